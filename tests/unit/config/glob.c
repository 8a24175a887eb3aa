/* SPDX-License-Identifier: Apache-2.0 */
#include "config/glob.h"

#include <criterion/criterion.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>

static bool any(const char *patterns, const char *path)
{
    return otelctx_glob_find(otelctx_span_from(patterns),
                             otelctx_span_from(path))
        .at;
}

struct row {
    const char *pattern, *path;
    bool matches;
};

#define CHECK(rows)                                                            \
    do {                                                                       \
        for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)          \
            cr_expect_eq(any((rows)[i].pattern, (rows)[i].path),               \
                         (rows)[i].matches, "%s on %s", (rows)[i].pattern,     \
                         (rows)[i].path);                                      \
    } while (0)

Test(glob, without_signs_is_the_very_path)
{
    static const struct row rows[] = {
        {"/bin/sh", "/bin/sh", true},   {"/bin/sh", "/bin/sha", false},
        {"/bin/sha", "/bin/sh", false}, {"sh", "/bin/sh", false},
        {"/bin/sh", "/bin/SH", false},  {"/bin/sh", "", false},
    };
    CHECK(rows);
}

Test(glob, a_star_is_any_run_of_characters_also_over_slashes)
{
    static const struct row rows[] = {
        {"*", "", true},
        {"*", "/usr/bin/env", true},
        {"/srv/*", "/srv/", true},
        {"/srv/*", "/srv/a/b/c", true},
        {"/srv/*", "/srv", false},
        {"*/python3*", "/usr/bin/python3.11", true},
        {"*/python3*", "/usr/bin/python2", false},
        {"*/python3", "/opt/python3/bin/python3", true},
        {"/*/bin/*", "/usr/bin/env", true},
        {"a*b*c", "a-b-b-c", true},
        {"a*b*c", "a-c-b", false},
        {"**a**", "a", true},
        {"/usr/bin/.*", "/usr/bin/.hidden", true},
        {"*hidden", "/usr/bin/.hidden", true},
    };
    CHECK(rows);
}

Test(glob, a_question_mark_is_one_character)
{
    static const struct row rows[] = {
        {"/bin/??", "/bin/sh", true},
        {"/bin/??", "/bin/ash", false},
        {"/bin/??", "/bin/s", false},
        {"?bin?sh", "/bin/sh", true},
        {"?", "", false},
        {"*?", "", false},
        {"*?", "x", true},
    };
    CHECK(rows);
}

Test(glob, brackets_are_one_character_of_a_set)
{
    static const struct row rows[] = {
        {"/bin/[bd]ash", "/bin/bash", true},
        {"/bin/[bd]ash", "/bin/dash", true},
        {"/bin/[bd]ash", "/bin/cash", false},
        {"/bin/[bd]ash", "/bin/ash", false},
        {"/bin/[!bd]ash", "/bin/cash", true},
        {"/bin/[!bd]ash", "/bin/bash", false},
        {"python[23]", "python3", true},
        {"python[0-9]", "python3", true},
        {"python[0-9]", "pythonx", false},
        {"[a-cx-z]", "y", true},
        {"[a-cx-z]", "d", false},
        {"[]]", "]", true},
        {"[!]]", "]", false},
        {"[!]]", "x", true},
        {"[a-]", "-", true},
        {"[-a]", "-", true},
        {"[a!]", "!", true},
        {"[/]bin", "/bin", true},
        {"[*]", "*", true},
        {"[*]", "x", false},
        {"[z-a]", "m", false},
        {"[\\]]", "]", true},
        {"[a\\-z]", "m", false},
        {"[a\\-z]", "-", true},
    };
    CHECK(rows);
}

Test(glob, a_bracket_that_does_not_end_means_itself)
{
    static const struct row rows[] = {
        {"[", "[", true},   {"[a", "[a", true},         {"[a", "a", false},
        {"[]", "[]", true}, {"/bin/[", "/bin/[", true},
    };
    CHECK(rows);
}

Test(glob, what_has_no_end_means_itself)
{
    static const struct row rows[] = {
        {"a\\", "a\\", true}, {"a\\", "a", false},    {"[a-", "[a-", true},
        {"[a-", "b", false},  {"[a\\", "[a\\", true}, {"[!", "[!", true},
    };
    CHECK(rows);
}

Test(glob, a_backslash_takes_the_meaning_off_the_next)
{
    static const struct row rows[] = {
        {"\\*", "*", true},       {"\\*", "x", false},
        {"\\?", "?", true},       {"\\?", "x", false},
        {"\\[a]", "[a]", true},   {"\\[a]", "a", false},
        {"\\\\", "\\", true},     {"\\a", "a", true},
        {"a\\*b*", "a*bc", true}, {"\\\\*", "\\x", true},
    };
    CHECK(rows);
}

Test(glob, a_list_matches_when_one_of_it_does)
{
    static const struct row rows[] = {
        {"/a,/b,/c", "/a", true},  {"/a,/b,/c", "/b", true},
        {"/a,/b,/c", "/c", true},  {"/a,/b,/c", "/d", false},
        {"/a,/b", "/a,/b", false}, {" /a ,\t/b\t", "/b", true},
        {" /a b ", "/a b", true},  {"/a*,/b", "/bx", false},
        {"[a,b]", "a", false},     {"[a,b]", "b]", true},
    };
    CHECK(rows);
}

Test(glob, empty_patterns_count_for_nothing)
{
    static const struct row rows[] = {
        {"", "", false},        {"", "/a", false},     {",", "", false},
        {" , \t,,", "", false}, {",,/a,", "/a", true}, {" ", " ", false},
    };
    CHECK(rows);
}

Test(glob, an_unset_list_matches_nothing)
{
    cr_expect_null(otelctx_glob_find((struct otelctx_span){NULL, 0},
                                     OTELCTX_SPAN("/bin/sh"))
                       .at);
}

/*
 * What POSIX leaves open and where glibc never matches: a last backslash, which
 * has no next to take the meaning off, and "[a-", a range without an end in a
 * bracket without an end. To us both mean themselves.
 */
static bool ends_in_backslash(const char *pattern)
{
    size_t backslashes = 0;

    for (const char *c = pattern; *c; c++)
        backslashes = *c == '\\' ? backslashes + 1 : 0;
    return backslashes % 2 == 1;
}

static bool ends_in_open_range(const char *pattern)
{
    return strchr(pattern, '[') && pattern[strlen(pattern) - 1] == '-';
}

static void draw(char *out, size_t max, const char *alphabet, unsigned *seed)
{
    const size_t size = (size_t)rand_r(seed) % (max + 1);

    for (size_t i = 0; i < size; i++)
        out[i] = alphabet[(size_t)rand_r(seed) % strlen(alphabet)];
    out[size] = '\0';
}

static void compare_with_libc(const char *pattern, const char *path)
{
    if (*pattern == '\0' || ends_in_backslash(pattern) ||
        ends_in_open_range(pattern))
        return;
    cr_assert_eq(any(pattern, path), fnmatch(pattern, path, 0) == 0, "%s on %s",
                 pattern, path);
}

Test(glob, is_what_libc_says_of_random_pairs)
{
    unsigned seed = 4719;

    for (unsigned round = 0; round < 300000; round++) {
        char pattern[12], path[10];

        draw(pattern, sizeof(pattern) - 1, "abc/*?[]!^-\\", &seed);
        draw(path, sizeof(path) - 1, "abc/[]-\\!", &seed);
        compare_with_libc(pattern, path);
    }
}

Test(glob, is_what_libc_says_of_random_stars)
{
    unsigned seed = 4947;

    for (unsigned round = 0; round < 300000; round++) {
        char pattern[12], path[16];

        draw(pattern, sizeof(pattern) - 1, "ab*?", &seed);
        draw(path, sizeof(path) - 1, "ab", &seed);
        compare_with_libc(pattern, path);
    }
}

Test(glob, is_what_libc_says_of_random_sets)
{
    unsigned seed = 1;

    for (unsigned round = 0; round < 300000; round++) {
        char pattern[12] = "[", path[2] = {0};

        draw(pattern + 1, sizeof(pattern) - 3, "abcd-]!\\^", &seed);
        pattern[strlen(pattern) + 1] = '\0';
        if (!ends_in_backslash(pattern))
            pattern[strlen(pattern)] = ']';
        draw(path, 1, "abcd-]!\\^", &seed);
        compare_with_libc(pattern, path);
    }
}

/* Exponential or cubic matching would take for ever here. */
Test(glob, takes_no_longer_than_pattern_times_path, .timeout = 60)
{
    char pattern[60 * 2 + 2] = "", path[4000 + 1];

    memset(path, 'a', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    for (size_t i = 0; i < 60; i++)
        memcpy(pattern + 2 * i, "*a", 3);
    cr_expect(any(pattern, path));
    pattern[strlen(pattern)] = 'b'; /* zeros are behind it */
    cr_expect_not(any(pattern, path));
}

Test(glob, of_many_open_brackets_takes_no_longer, .timeout = 60)
{
    char pattern[2000 + 1], path[4000 + 1];

    memset(path, '[', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    memset(pattern, '[', sizeof(pattern) - 1);
    pattern[sizeof(pattern) - 1] = '\0';
    pattern[0] = '*';
    pattern[sizeof(pattern) - 2] = 'x';
    cr_expect_not(any(pattern, path));
}

Test(glob, may_match_a_file_when_it_fits_an_absolute_path)
{
    static const struct {
        const char *pattern;
        bool may;
    } rows[] = {
        {"/bin/sh", true},  {"*", true},        {"*/python3*", true},
        {"?bin", true},     {"[/]bin", true},   {"\\/bin", true},
        {"python3", false}, {"bin/*", false},   {"/usr/bin/", false},
        {"/", false},       {"~/bin/*", false}, {"\"/bin/sh\"", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_expect_eq(
            otelctx_glob_may_match_file(otelctx_span_from(rows[i].pattern)),
            rows[i].may, "%s", rows[i].pattern);
}

Test(glob, tells_which_of_several_patterns_matches)
{
    const struct otelctx_span found = otelctx_glob_find(
        OTELCTX_SPAN("/x, /bin/* ,*"), OTELCTX_SPAN("/bin/sh"));

    cr_expect(otelctx_span_equal(found, OTELCTX_SPAN("/bin/*")));
}
