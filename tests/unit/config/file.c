/* SPDX-License-Identifier: Apache-2.0 */
#include "config/file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#define SETTING "NAME=value or a comment"
#define NUL     "no NUL character"
#define QUOTES  "a value without quotes"

/* What one call returns: a setting of a line, or a fault in it. */
struct taken {
    uint32_t line;
    const char *name, *value;
    struct otelctx_fault fault;
};

struct row {
    struct otelctx_span text;
    struct taken taken[4];
};

#define FILE_OF(literal, ...)                                                  \
    {                                                                          \
        .text = OTELCTX_SPAN_INIT(literal), .taken = { __VA_ARGS__ }           \
    }
#define EMPTY(literal)                                                         \
    {                                                                          \
        .text = OTELCTX_SPAN_INIT(literal)                                     \
    }
#define SET(line_, name_, value_)                                              \
    {                                                                          \
        .line = (line_), .name = (name_), .value = (value_)                    \
    }
#define BAD(line_, position, reason)                                           \
    {                                                                          \
        .line = (line_), .fault = {.pos = (position), .why = (reason) }        \
    }

static bool is(struct otelctx_span span, const char *text)
{
    return otelctx_span_equal(span, otelctx_span_from(text));
}

static void check_next(struct otelctx_file *file, const char *text,
                       const struct taken *want)
{
    const struct otelctx_span before = OTELCTX_SPAN("before");
    struct otelctx_span name = before, value = before;
    struct otelctx_fault fault = {0};
    const int got = otelctx_file_next(file, &name, &value, &fault);

    cr_expect_eq(file->line, want->line, "\"%s\": line %u instead of %u", text,
                 file->line, want->line);
    cr_assert_eq(got, want->name ? 1 : -EINVAL, "\"%s\": line %u: returned %d",
                 text, want->line, got);
    if (want->name) {
        cr_expect(is(name, want->name), "\"%s\": line %u: name is \"%.*s\"",
                  text, want->line, (int)name.size, name.at);
        cr_expect(is(value, want->value), "\"%s\": line %u: value is \"%.*s\"",
                  text, want->line, (int)value.size, value.at);
        return;
    }
    cr_expect_eq(fault.pos, want->fault.pos, "\"%s\": line %u: at %zu", text,
                 want->line, fault.pos);
    cr_expect_str_eq(fault.why, want->fault.why);
    cr_expect(name.at == before.at && value.at == before.at,
              "\"%s\": line %u: a failure changed the outputs", text,
              want->line);
}

/* The text is in memory without spare bytes, so that ASan sees a read beyond
 * it. */
static void check_row(const struct row *row)
{
    char *exact = malloc(row->text.size ? row->text.size : 1);
    struct otelctx_file file = {.rest = {exact, row->text.size}};
    struct otelctx_span name, value;
    struct otelctx_fault fault;

    memcpy(exact, row->text.at, row->text.size);
    for (size_t i = 0; i < 4 && row->taken[i].line; i++)
        check_next(&file, row->text.at, &row->taken[i]);
    cr_expect_eq(otelctx_file_next(&file, &name, &value, &fault), 0,
                 "\"%s\": more than expected", row->text.at);
    cr_expect_eq(otelctx_file_next(&file, &name, &value, &fault), 0);
    free(exact);
}

#define CHECK(rows)                                                            \
    do {                                                                       \
        for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)          \
            check_row(&(rows)[i]);                                             \
    } while (0)

Test(file, has_one_setting_a_line)
{
    static const struct row rows[] = {
        FILE_OF("A=1\n", SET(1, "A", "1")),
        FILE_OF("A=1\nB=2\nC=3\n", SET(1, "A", "1"), SET(2, "B", "2"),
                SET(3, "C", "3")),
        FILE_OF("A=1\nA=2\n", SET(1, "A", "1"), SET(2, "A", "2")),
    };
    CHECK(rows);
}

Test(file, may_end_without_a_newline)
{
    static const struct row rows[] = {
        FILE_OF("A=1", SET(1, "A", "1")),
        FILE_OF("A=1\nB=", SET(1, "A", "1"), SET(2, "B", "")),
        FILE_OF("A=1\n#", SET(1, "A", "1")),
        FILE_OF("A=1\nB", SET(1, "A", "1"), BAD(2, 1, SETTING)),
    };
    CHECK(rows);
}

Test(file, may_hold_nothing)
{
    static const struct row rows[] = {
        EMPTY(""),  EMPTY("\n"),          EMPTY("\n\n\n"),   EMPTY(" \t"),
        EMPTY("#"), EMPTY("# comment\n"), EMPTY("\r\n\r\n"),
    };
    CHECK(rows);
}

Test(file, may_be_no_memory_at_all)
{
    struct otelctx_file file = {.line = 0};
    struct otelctx_span name, value;
    struct otelctx_fault fault;

    cr_expect_eq(otelctx_file_next(&file, &name, &value, &fault), 0);
}

Test(file, blank_lines_and_comments_count_as_lines_only)
{
    static const struct row rows[] = {
        FILE_OF("\n\nA=1\n", SET(3, "A", "1")),
        FILE_OF("# one\n#two=2\n  # three\nA=1\n", SET(4, "A", "1")),
        FILE_OF("\t#A=0\nA=1\n \t \nB=2\n", SET(2, "A", "1"), SET(4, "B", "2")),
        FILE_OF("A=1\n\n#\n\n", SET(1, "A", "1")),
        EMPTY("# A comment may hold a \0 and \xff bytes"),
    };
    CHECK(rows);
}

Test(file, a_comment_is_a_whole_line)
{
    static const struct row rows[] = {
        FILE_OF("A=1 # one\n", SET(1, "A", "1 # one")),
        FILE_OF("A=#1\n", SET(1, "A", "#1")),
        FILE_OF("A#=1\n", SET(1, "A#", "1")),
    };
    CHECK(rows);
}

Test(file, lines_may_end_in_carriage_return_and_newline)
{
    static const struct row rows[] = {
        FILE_OF("A=1\r\nB=2\r\n", SET(1, "A", "1"), SET(2, "B", "2")),
        FILE_OF("A=1\r", SET(1, "A", "1")),
        FILE_OF("A=1 \r\n", SET(1, "A", "1")),
        FILE_OF("A=\r\n", SET(1, "A", "")),
        FILE_OF("\r\n#\r\nA=1\r\n", SET(3, "A", "1")),
        FILE_OF("A\r\nB=2\r\n", BAD(1, 1, SETTING), SET(2, "B", "2")),
        FILE_OF("A=1\r\r\n", SET(1, "A", "1\r")),
        FILE_OF("A=1\rB=2\n", SET(1, "A", "1\rB=2")),
    };
    CHECK(rows);
}

Test(file, blanks_around_names_and_values_do_not_count)
{
    static const struct row rows[] = {
        FILE_OF("  A=1\n", SET(1, "A", "1")),
        FILE_OF("A =1\n", SET(1, "A", "1")),
        FILE_OF("A= 1\n", SET(1, "A", "1")),
        FILE_OF("A=1  \n", SET(1, "A", "1")),
        FILE_OF("\tA\t=\t1\t\n", SET(1, "A", "1")),
        FILE_OF("A= one  two \n", SET(1, "A", "one  two")),
        FILE_OF("A=  \n", SET(1, "A", "")),
        FILE_OF("A B=1\n", SET(1, "A B", "1")),
    };
    CHECK(rows);
}

Test(file, only_the_first_equals_sign_splits)
{
    static const struct row rows[] = {
        FILE_OF("A=b=c,d=e\n", SET(1, "A", "b=c,d=e")),
        FILE_OF("A==\n", SET(1, "A", "=")),
        FILE_OF("A = = \n", SET(1, "A", "=")),
    };
    CHECK(rows);
}

Test(file, values_are_taken_literally)
{
    static const struct row rows[] = {
        FILE_OF("A=%41$B\\\nB=2\n", SET(1, "A", "%41$B\\"), SET(2, "B", "2")),
        FILE_OF("A=\xff\n", SET(1, "A", "\xff")),
        FILE_OF("export A=1\n", SET(1, "export A", "1")),
    };
    CHECK(rows);
}

Test(file, a_line_that_is_no_setting_is_a_fault)
{
    static const struct row rows[] = {
        FILE_OF("A\n", BAD(1, 1, SETTING)),
        FILE_OF("  A\n", BAD(1, 3, SETTING)),
        FILE_OF("=1\n", BAD(1, 1, SETTING)),
        FILE_OF("\t=1\n", BAD(1, 2, SETTING)),
        FILE_OF("=\n", BAD(1, 1, SETTING)),
        FILE_OF("[section]\n", BAD(1, 1, SETTING)),
        FILE_OF("\xef\xbb\xbf\n", BAD(1, 1, SETTING)),
    };
    CHECK(rows);
}

Test(file, a_nul_is_a_fault_where_it_is)
{
    static const struct row rows[] = {
        FILE_OF("A=\0", BAD(1, 3, NUL)),
        FILE_OF("A=1\0\n", BAD(1, 4, NUL)),
        FILE_OF("\0\n", BAD(1, 1, NUL)),
        FILE_OF("  A\0=1\n", BAD(1, 4, NUL)),
        FILE_OF("A=1\nB=2\0\nC=3\n", SET(1, "A", "1"), BAD(2, 4, NUL),
                SET(3, "C", "3")),
    };
    CHECK(rows);
}

Test(file, goes_on_after_a_bad_line)
{
    static const struct row rows[] = {
        FILE_OF("A=1\nbad\n\nB=2\n", SET(1, "A", "1"), BAD(2, 1, SETTING),
                SET(4, "B", "2")),
        FILE_OF("bad\n worse\n=\nB=2", BAD(1, 1, SETTING), BAD(2, 2, SETTING),
                BAD(3, 1, SETTING), SET(4, "B", "2")),
    };
    CHECK(rows);
}

Test(file, of_the_greatest_size_may_be_all_newlines)
{
    char *text = malloc(OTELCTX_FILE_MAX);
    struct otelctx_file file = {.rest = {text, OTELCTX_FILE_MAX}};
    struct otelctx_span name, value;
    struct otelctx_fault fault;

    memset(text, '\n', OTELCTX_FILE_MAX);
    cr_expect_eq(otelctx_file_next(&file, &name, &value, &fault), 0);
    cr_expect_eq(file.line, OTELCTX_FILE_MAX);
    free(text);
}

Test(file, of_the_greatest_size_may_be_one_line)
{
    char *text = malloc(OTELCTX_FILE_MAX);
    struct otelctx_file file = {.rest = {text, OTELCTX_FILE_MAX}};
    struct otelctx_span name, value;
    struct otelctx_fault fault;

    memset(text, 'v', OTELCTX_FILE_MAX);
    text[1] = '=';
    cr_expect_eq(otelctx_file_next(&file, &name, &value, &fault), 1);
    cr_expect_eq(value.size, OTELCTX_FILE_MAX - 2);
    cr_expect_eq(file.line, 1);
    free(text);
}

Test(file, refuses_a_value_between_quotes)
{
    static const struct row rows[] = {
        FILE_OF("A=\"b\"\nB=1\n", BAD(1, 3, QUOTES), SET(2, "B", "1")),
        FILE_OF("A = 'b'", BAD(1, 5, QUOTES)),
        FILE_OF("A=b\"c\"", SET(1, "A", "b\"c\"")),
    };
    CHECK(rows);
}
