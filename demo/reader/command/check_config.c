/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/check_config.h"

#include "config/check.h"
#include "config/file.h"
#include "config/options.h"
#include "config/span.h"
#include "demo/base/escape.h"
#include "demo/base/near.h"
#include "demo/base/root.h"
#include "demo/reader/report/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static size_t distance(struct otelctx_span a, struct otelctx_span b)
{
    return otelbase_near_distance(a.at, a.size, b.at, b.size);
}

/* Whether the option is that name with OTEL_ or OTELCTX_ in front. */
static bool lacks_prefix(struct otelctx_span name, struct otelctx_span option)
{
    const struct otelctx_span end = {option.at + (option.size - name.size),
                                     name.size};

    return option.size > name.size && end.at[-1] == '_' &&
           distance(name, end) == 0;
}

/*
 * The option of a configuration file that somebody who wrote this name is
 * likely to mean, or NULL.
 */
static const char *nearest_option(struct otelctx_span name)
{
    const char *nearest = NULL;
    size_t best = name.size / 3 + 1;

    if (name.size == 0 || name.size > OTELBASE_NEAR_MAX)
        return NULL;
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const char *const text = otelctx_option_name(id);
        const struct otelctx_span option = otelctx_span_from(text);
        const size_t far =
            lacks_prefix(name, option) ? 0 : distance(option, name);

        if (!otelctx_option_is_of_environment(id) && far < best) {
            nearest = text;
            best = far;
        }
    }
    return nearest;
}

#define BOM OTELCTX_SPAN("\xef\xbb\xbf")

/* A check under way, at one line of the file. */
struct check {
    const char *path;
    struct otelctx_file file;
    const char *text;                    /* where the file begins */
    struct otelctx_span line;            /* without its end */
    uint32_t seen[OTELCTX_OPTION_COUNT]; /* the line of an option, or 0 */
    struct otelctx_options options;
    struct otelctx_span keys, keys_line; /* OTELCTX_ATTRIBUTE_KEYS */
    size_t faults;
};

static void print_span(struct otelctx_span text)
{
    otelbase_escape_print_start(stderr, text.at, text.size, 64);
}

/* PATH:LINE:BYTE, which editors understand; found may be empty. */
static void say(const struct check *check, const char *at, const char *kind,
                const char *why, struct otelctx_span found)
{
    otelbase_escape_print(stderr, check->path, strlen(check->path));
    (void)fprintf(stderr, ":%u:%zu: %s%s", check->file.line,
                  (size_t)(at - check->line.at) + 1, kind, why);
    if (found.size > 0) {
        (void)fputs(", found \"", stderr);
        print_span(found);
        (void)fputc('"', stderr);
    }
}

/* The line that was read last: it ends where the rest begins. */
static struct otelctx_span line_of(const struct check *check)
{
    const char *end = check->file.rest.at;
    const char *start;

    if (end > check->text && end[-1] == '\n')
        end--;
    start = end;
    while (start > check->text && start[-1] != '\n')
        start--;
    return (struct otelctx_span){start, (size_t)(end - start)};
}

/* What to do about a line without a name that the shim knows. */
static void advise(const struct check *check, struct otelctx_span name)
{
    const struct otelctx_span line = otelctx_span_trim(check->line);
    const char *const nearest = nearest_option(name);

    if (otelctx_span_begins(line, BOM))
        (void)fputs("; remove the byte order mark (U+FEFF)", stderr);
    else if (otelctx_span_begins(line, OTELCTX_SPAN("[")))
        (void)fputs("; remove it: the file has no sections", stderr);
    else if (otelctx_span_begins(line, OTELCTX_SPAN("export ")))
        (void)fputs("; remove \"export\": this is no shell script", stderr);
    else if (nearest && !otelctx_span_begins(line, otelctx_span_from(nearest)))
        (void)fprintf(stderr, "; did you mean %s?", nearest);
}

static void check_name(struct check *check, struct otelctx_span name,
                       enum otelctx_option_id id)
{
    check->faults++;
    if (id < OTELCTX_OPTION_COUNT) {
        say(check, name.at, "", "expected ", (struct otelctx_span){NULL, 0});
        (void)fprintf(stderr, "%s in the environment only",
                      otelctx_option_name(id));
    } else {
        say(check, name.at, "", "expected the name of an option", name);
        advise(check, name);
    }
    (void)fputc('\n', stderr);
}

static void check_value(struct check *check, enum otelctx_option_id id,
                        struct otelctx_span value)
{
    struct otelctx_fault fault;
    const bool is_word = otelctx_option_kind(id) == OTELCTX_KIND_WORD;
    const struct otelctx_span none = {NULL, 0};

    if (otelctx_check_value(id, value, &fault) != 0) {
        check->faults++;
        say(check, value.at + (fault.pos - 1), "expected ", fault.why,
            is_word ? value : none);
        (void)fprintf(stderr, "; %s %s counts for nothing\n",
                      otelctx_option_kind(id) == OTELCTX_KIND_ENTITIES
                          ? "that entity of this"
                          : "all of this",
                      otelctx_option_name(id));
    } else if (otelctx_check_doubt(id, value, &fault)) {
        say(check, value.at + (fault.pos - 1), "warning: ", fault.why, none);
        (void)fputc('\n', stderr);
    }
}

/* Only the last line of an option counts. */
static void check_repeated(struct check *check, struct otelctx_span name,
                           enum otelctx_option_id id)
{
    if (check->seen[id] != 0) {
        say(check, name.at, "warning: ", otelctx_option_name(id),
            (struct otelctx_span){NULL, 0});
        (void)fprintf(stderr, " overrides line %u\n", check->seen[id]);
    }
    check->seen[id] = check->file.line;
}

static void check_setting(struct check *check, struct otelctx_span name,
                          struct otelctx_span value)
{
    const enum otelctx_option_id id = otelctx_options_find(name);

    if (id == OTELCTX_OPTION_COUNT || otelctx_option_is_of_environment(id)) {
        check_name(check, name, id);
        return;
    }
    check_repeated(check, name, id);
    check_value(check, id, value);
    if (value.size == 0)
        value.at = NULL;
    (void)otelctx_options_apply(&check->options, id, value,
                                &(struct otelctx_fault){0});
    if (id == OTELCTX_OPTION_ATTRIBUTE_KEYS) {
        check->keys = value;
        check->keys_line = check->line;
    }
}

/* After all lines: do other options leave a key? */
static void check_keys(struct check *check)
{
    const char *const why = otelctx_check_keys(&check->options);
    const struct otelctx_span key = otelctx_span_member(&check->keys);

    if (key.size == 0 || !why)
        return;
    check->faults++;
    check->line = check->keys_line;
    check->file.line = check->seen[OTELCTX_OPTION_ATTRIBUTE_KEYS];
    say(check, key.at, "expected ", why, (struct otelctx_span){NULL, 0});
    (void)fputc('\n', stderr);
}

static void check_text(struct check *check)
{
    struct otelctx_span name, value;
    struct otelctx_fault fault;
    int got;

    while ((got = otelctx_file_next(&check->file, &name, &value, &fault)) !=
           0) {
        check->line = line_of(check);
        if (got > 0) {
            check_setting(check, name, value);
            continue;
        }
        check->faults++;
        say(check, check->line.at + (fault.pos - 1), "expected ", fault.why,
            otelctx_span_trim(check->line));
        advise(check, otelctx_span_trim(check->line));
        (void)fputc('\n', stderr);
    }
}

static int complain(const char *path, const char *why)
{
    (void)fputs("otelctx-read: ", stderr);
    otelbase_escape_print(stderr, path, strlen(path));
    (void)fprintf(stderr, ": %s\n", why);
    return OTELREAD_ERROR;
}

static size_t count_set(const struct check *check)
{
    size_t count = 0;

    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        count += check->seen[id] != 0 ? 1 : 0;
    return count;
}

int otelread_check_config(const char *path)
{
    static char text[OTELCTX_FILE_MAX + 1];
    const long size = otelbase_root_read(AT_FDCWD, path, text, sizeof(text));

    if (size == -EINVAL)
        return complain(path, "expected a regular file");
    if (size < 0)
        return complain(path, strerror((int)-size));
    if (size > OTELCTX_FILE_MAX)
        return complain(path, "expected at most 65536 bytes");

    struct check check = {
        .path = path, .file = {.rest = {text, (size_t)size}}, .text = text};
    otelctx_options_set_defaults(&check.options);
    check_text(&check);
    check_keys(&check);
    if (check.faults > 0)
        return OTELREAD_ERROR;
    const size_t count = count_set(&check);
    otelbase_escape_print(stdout, path, strlen(path));
    (void)printf(": ok, %zu option%s\n", count, count == 1 ? "" : "s");
    return OTELREAD_OK;
}
