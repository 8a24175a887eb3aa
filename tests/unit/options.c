/* SPDX-License-Identifier: Apache-2.0 */
#include "config/options.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

static bool is(struct otelctx_span span, const char *text)
{
    return otelctx_span_equal(span, otelctx_span_from(text));
}

static const struct otelctx_option *row(unsigned id)
{
    return &otelctx_options_table[id];
}

/* The words that an option expects; none: it is a text. */
static unsigned words_of(unsigned id, char words[8][28])
{
    const char *at = row(id)->expects + strlen("expected ");
    unsigned count = 0;

    for (; *row(id)->expects && *at; count++) {
        const size_t size = strcspn(at, "|");

        snprintf(words[count], sizeof(words[count]), "%.*s", (int)size, at);
        at += size + (at[size] == '|');
    }
    return count;
}

static bool is_text(unsigned id)
{
    return row(id)->expects[0] == '\0';
}

static int apply(struct otelctx_options *options, unsigned id, const char *text)
{
    struct otelctx_fault fault = {0};

    return otelctx_options_apply(options, id, otelctx_span_from(text), &fault);
}

static const void *field_of(const struct otelctx_options *options, unsigned id)
{
    return (const char *)options + row(id)->field;
}

static unsigned word_of(const struct otelctx_options *options, unsigned id)
{
    unsigned word;

    memcpy(&word, field_of(options, id), sizeof(word));
    return word;
}

static struct otelctx_span text_of(const struct otelctx_options *options,
                                   unsigned id)
{
    struct otelctx_span text;

    memcpy(&text, field_of(options, id), sizeof(text));
    return text;
}

/* Field by field: what lies between them is undefined. */
static bool same_options(const struct otelctx_options *a,
                         const struct otelctx_options *b)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        if (is_text(id) ? !otelctx_span_equal(text_of(a, id), text_of(b, id))
                        : word_of(a, id) != word_of(b, id))
            return false;
    return true;
}

Test(options_table, has_names_that_are_unique_and_of_our_kind)
{
    for (unsigned a = 0; a < OTELCTX_OPTION_COUNT; a++) {
        cr_expect(strncmp(row(a)->name, "OTEL", 4) == 0 ||
                      strcmp(row(a)->name, "TRACEPARENT") == 0,
                  "%s", row(a)->name);
        cr_expect_null(strpbrk(row(a)->name, "= \t#,"), "%s", row(a)->name);
        for (unsigned b = 0; b < OTELCTX_OPTION_COUNT; b++)
            cr_expect(a == b || strcmp(row(a)->name, row(b)->name) != 0, "%s",
                      row(a)->name);
    }
}

Test(options_table, has_texts_that_end_within_their_arrays)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        cr_expect(memchr(row(id)->name, 0, sizeof(row(id)->name)), "%u", id);
        cr_expect(memchr(row(id)->fallback, 0, sizeof(row(id)->fallback)), "%u",
                  id);
        cr_expect(memchr(row(id)->expects, 0, sizeof(row(id)->expects)), "%u",
                  id);
        cr_expect(memchr(row(id)->help, 0, sizeof(row(id)->help)), "%u", id);
    }
}

Test(options_table, has_one_line_of_help_in_each_row)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const size_t size = strlen(row(id)->help);

        cr_assert_gt(size, 0, "%s", row(id)->name);
        cr_expect_null(strchr(row(id)->help, '\n'), "%s", row(id)->name);
        cr_expect_eq(row(id)->help[size - 1], '.', "%s", row(id)->name);
    }
}

Test(options_table, has_a_field_of_its_own_for_each_row)
{
    for (unsigned a = 0; a < OTELCTX_OPTION_COUNT; a++) {
        const size_t size =
            is_text(a) ? sizeof(struct otelctx_span) : sizeof(unsigned);

        cr_expect_leq(row(a)->field + size, sizeof(struct otelctx_options));
        for (unsigned b = 0; b < OTELCTX_OPTION_COUNT; b++)
            cr_expect(a == b || row(b)->field < row(a)->field ||
                          row(b)->field >= row(a)->field + size,
                      "%s and %s", row(a)->name, row(b)->name);
    }
}

Test(options_table, has_fallbacks_that_apply_without_a_fault)
{
    struct otelctx_options options = {0};

    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        if (row(id)->fallback[0] == '\0') {
            cr_expect(is_text(id), "%s has no default", row(id)->name);
            continue;
        }
        cr_expect_eq(apply(&options, id, row(id)->fallback), 0, "%s",
                     row(id)->name);
    }
}

Test(options_table, has_lower_case_words)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        for (const char *c = row(id)->expects; *c; c++)
            cr_expect_not(isupper((unsigned char)*c), "%s", row(id)->name);
}

Test(options, are_found_by_their_exact_name)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        cr_expect_eq(otelctx_options_find(otelctx_span_from(row(id)->name)),
                     id);
    cr_expect_eq(otelctx_options_find(OTELCTX_SPAN("")), OTELCTX_OPTION_COUNT);
    cr_expect_eq(otelctx_options_find(OTELCTX_SPAN("OTEL_SERVICE_NAM")),
                 OTELCTX_OPTION_COUNT);
    cr_expect_eq(otelctx_options_find(OTELCTX_SPAN("OTEL_SERVICE_NAMES")),
                 OTELCTX_OPTION_COUNT);
    cr_expect_eq(otelctx_options_find(OTELCTX_SPAN("otel_service_name")),
                 OTELCTX_OPTION_COUNT);
    cr_expect_eq(otelctx_options_find(OTELCTX_SPAN("OTEL_SERVICE_NAME\0")),
                 OTELCTX_OPTION_COUNT);
}

Test(options, have_the_documented_defaults)
{
    struct otelctx_options options;

    memset(&options, 0xff, sizeof(options));
    otelctx_options_set_defaults(&options);
    cr_expect_eq(options.log_level, OTELCTX_LOG_ERROR);
    cr_expect_eq(options.sdk_disabled, false);
    cr_expect_eq(options.disabled, false);
    cr_expect_eq(options.publish, OTELCTX_PUBLISH_ALWAYS);
    cr_expect(is(options.config_file, "/etc/otelctx/otelctx.conf"));
    cr_expect_null(options.include_paths.at);
    cr_expect_null(options.exclude_paths.at);
    cr_expect_null(options.service_name.at);
    cr_expect_null(options.resource_attributes.at);
    cr_expect_null(options.extra_attributes.at);
    cr_expect_null(options.attribute_keys.at);
    cr_expect(is(options.schema_version, "tlsdesc_v1_dev"));
    cr_expect_eq(options.traceparent_for, OTELCTX_TRACEPARENT_OFF);
    cr_expect_null(options.traceparent.at);
}

Test(options, words_have_the_numbers_of_their_enum)
{
    struct otelctx_options options = {0};

    (void)apply(&options, OTELCTX_OPTION_LOG_LEVEL, "none");
    cr_expect_eq(options.log_level, OTELCTX_LOG_NONE);
    (void)apply(&options, OTELCTX_OPTION_LOG_LEVEL, "error");
    cr_expect_eq(options.log_level, OTELCTX_LOG_ERROR);
    (void)apply(&options, OTELCTX_OPTION_LOG_LEVEL, "warn");
    cr_expect_eq(options.log_level, OTELCTX_LOG_WARN);
    (void)apply(&options, OTELCTX_OPTION_LOG_LEVEL, "info");
    cr_expect_eq(options.log_level, OTELCTX_LOG_INFO);
    (void)apply(&options, OTELCTX_OPTION_LOG_LEVEL, "debug");
    cr_expect_eq(options.log_level, OTELCTX_LOG_DEBUG);
    (void)apply(&options, OTELCTX_OPTION_PUBLISH, "configured");
    cr_expect_eq(options.publish, OTELCTX_PUBLISH_CONFIGURED);
    (void)apply(&options, OTELCTX_OPTION_PUBLISH, "always");
    cr_expect_eq(options.publish, OTELCTX_PUBLISH_ALWAYS);
    (void)apply(&options, OTELCTX_OPTION_DISABLED, "true");
    cr_expect_eq(options.disabled, true);
    (void)apply(&options, OTELCTX_OPTION_DISABLED, "false");
    cr_expect_eq(options.disabled, false);
    (void)apply(&options, OTELCTX_OPTION_SDK_DISABLED, "true");
    cr_expect_eq(options.sdk_disabled, true);
    (void)apply(&options, OTELCTX_OPTION_TRACEPARENT_FOR, "main");
    cr_expect_eq(options.traceparent_for, OTELCTX_TRACEPARENT_MAIN);
    (void)apply(&options, OTELCTX_OPTION_TRACEPARENT_FOR, "all");
    cr_expect_eq(options.traceparent_for, OTELCTX_TRACEPARENT_ALL);
    (void)apply(&options, OTELCTX_OPTION_TRACEPARENT_FOR, "off");
    cr_expect_eq(options.traceparent_for, OTELCTX_TRACEPARENT_OFF);
}

/* A word as it is, in capitals, and with every other letter one. */
static void check_cases(unsigned id, const char *word, unsigned number)
{
    for (unsigned mask = 0; mask < 4; mask++) {
        struct otelctx_options options = {0};
        char text[28] = "";

        for (size_t i = 0; word[i]; i++)
            text[i] = mask >> (i & 1) & 1
                          ? (char)toupper((unsigned char)word[i])
                          : word[i];
        cr_expect_eq(apply(&options, id, text), 0, "%s=%s", row(id)->name,
                     text);
        cr_expect_eq(word_of(&options, id), number, "%s=%s", row(id)->name,
                     text);
    }
}

Test(options, words_count_in_any_case)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        char words[8][28];
        const unsigned count = words_of(id, words);

        for (unsigned number = 0; number < count; number++)
            check_cases(id, words[number], number);
    }
}

Test(options, another_word_is_a_fault_and_leaves_the_default)
{
    static const char *const bad[] = {
        "",      "1",    "0",      "yes",           "tru",      "truee",
        " true", "on",   "true ",  "false|true",    "|",        "error|warn",
        "level", "warm", "errOr2", "expected none", "\xc3\xb6", "\xd4RUE",
    };

    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        struct otelctx_options defaults;

        if (is_text(id))
            continue;
        otelctx_options_set_defaults(&defaults);
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            struct otelctx_options options = defaults;
            struct otelctx_fault fault = {0};

            cr_expect_eq(otelctx_options_apply(
                             &options, id, otelctx_span_from(bad[i]), &fault),
                         -EINVAL, "%s=%s", row(id)->name, bad[i]);
            cr_expect_eq(fault.pos, 1);
            cr_expect_str_eq(fault.why, row(id)->expects);
            cr_expect(same_options(&options, &defaults), "%s=%s", row(id)->name,
                      bad[i]);
        }
    }
}

Test(options, the_fault_of_a_switch_names_both_words)
{
    struct otelctx_options options = {0};
    struct otelctx_fault fault = {0};

    (void)otelctx_options_apply(&options, OTELCTX_OPTION_DISABLED,
                                OTELCTX_SPAN("1"), &fault);
    cr_expect_str_eq(fault.why, "expected false|true");
}

Test(options, texts_are_taken_as_they_are)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        static const char text[] = " a=%41, \"b\"\t";
        struct otelctx_options options = {0};

        if (!is_text(id))
            continue;
        cr_expect_eq(apply(&options, id, text), 0, "%s", row(id)->name);
        cr_expect_eq(text_of(&options, id).at, text, "%s", row(id)->name);
        cr_expect_eq(text_of(&options, id).size, strlen(text));
    }
}

Test(options, what_readers_see_as_a_string_is_utf8)
{
    static const unsigned ids[] = {OTELCTX_OPTION_SERVICE_NAME,
                                   OTELCTX_OPTION_ATTRIBUTE_KEYS,
                                   OTELCTX_OPTION_SCHEMA_VERSION};

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct otelctx_options options = {0};
        struct otelctx_fault fault = {0};

        cr_expect_eq(otelctx_options_apply(&options, ids[i],
                                           OTELCTX_SPAN("caf\xe9"), &fault),
                     -EINVAL, "%s", row(ids[i])->name);
        cr_expect_eq(fault.pos, 4);
        cr_expect_str_eq(fault.why, "expected valid UTF-8");
        cr_expect_null(text_of(&options, ids[i]).at);
        cr_expect_eq(apply(&options, ids[i], "caf\u00e9"), 0);
        cr_expect(is(text_of(&options, ids[i]), "caf\u00e9"));
    }
}

Test(options, a_path_is_any_bytes)
{
    struct otelctx_options options = {0};

    cr_expect_eq(apply(&options, OTELCTX_OPTION_CONFIG_FILE, "/\xff"), 0);
    cr_expect(is(options.config_file, "/\xff"));
}

Test(options, may_be_what_a_string_of_the_environment_is)
{
    static const char *const others[] = {
        "",
        "HOME=/root",
        "OTE=1",
        "XOTEL_SERVICE_NAME=x",
        "otel_service_name=x",
        "TRACEPARENT",
        "TRACEPARENTS=x",
        "TRACEPAREN=x",
        "traceparent=x",
        "TRACESTATE=x",
    };

    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        char variable[sizeof(row(id)->name) + 1];

        (void)snprintf(variable, sizeof(variable), "%.26s=", row(id)->name);
        cr_expect(otelctx_options_concern(variable), "%s", variable);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        cr_expect_not(otelctx_options_concern(others[i]), "%s", others[i]);
}

#define ENVIRONMENT(settings, ...)                                             \
    struct otelctx_setting settings[OTELCTX_OPTION_COUNT] = {0};               \
    otelctx_options_read_environment(settings,                                 \
                                     (char *const[]){__VA_ARGS__, NULL})

Test(environment, is_noted_as_it_is)
{
    ENVIRONMENT(settings, "HOME=/root", "OTEL_SERVICE_NAME= shop=1 ",
                "OTELCTX_LOG_LEVEL=nonsense", "PATH=/bin");

    cr_expect(is(settings[OTELCTX_OPTION_SERVICE_NAME].text, " shop=1 "));
    cr_expect(is(settings[OTELCTX_OPTION_LOG_LEVEL].text, "nonsense"));
    cr_expect_eq(settings[OTELCTX_OPTION_SERVICE_NAME].line, 0);
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        cr_expect(id == OTELCTX_OPTION_SERVICE_NAME ||
                      id == OTELCTX_OPTION_LOG_LEVEL || !settings[id].text.at,
                  "%s", row(id)->name);
}

Test(environment, gives_every_option)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        char variable[sizeof(row(id)->name) + 2];

        (void)snprintf(variable, sizeof(variable), "%.26s=x", row(id)->name);
        ENVIRONMENT(settings, "A=b", variable);
        cr_expect(is(settings[id].text, "x"), "%s", row(id)->name);
    }
}

Test(environment, empty_is_unset)
{
    ENVIRONMENT(settings, "OTEL_SERVICE_NAME=", "OTELCTX_DISABLED=");

    cr_expect_null(settings[OTELCTX_OPTION_SERVICE_NAME].text.at);
    cr_expect_null(settings[OTELCTX_OPTION_DISABLED].text.at);
}

Test(environment, of_two_variables_of_one_name_the_first_counts)
{
    ENVIRONMENT(settings, "OTEL_SERVICE_NAME=first", "OTELCTX_DISABLED=true",
                "OTEL_SERVICE_NAME=second");

    cr_expect(is(settings[OTELCTX_OPTION_SERVICE_NAME].text, "first"));
}

Test(environment, an_empty_one_before_it_counts_for_nothing)
{
    ENVIRONMENT(settings, "OTEL_SERVICE_NAME=", "OTEL_SERVICE_NAME=second");

    cr_expect(is(settings[OTELCTX_OPTION_SERVICE_NAME].text, "second"));
}

Test(environment, what_is_no_option_is_ignored)
{
    ENVIRONMENT(settings, "OTEL_EXPORTER_OTLP_ENDPOINT=x", "OTELCTX_UNHEARD=x",
                "OTEL", "OTEL=x", "OTEL_SERVICE_NAME", "OTEL_SERVICE_NAMES=x",
                "otel_service_name=x", "XOTEL_SERVICE_NAME=x", "",
                "=OTEL_SERVICE_NAME=x", "OTEL_SERVICE_NAME =x", "TRACEPARENT",
                "TRACEPARENTS=x", "TRACESTATE=x", "traceparent=x");

    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        cr_expect_null(settings[id].text.at, "%s", row(id)->name);
}

Test(environment, may_be_missing)
{
    struct otelctx_setting settings[OTELCTX_OPTION_COUNT] = {0};

    otelctx_options_read_environment(settings, NULL);
    otelctx_options_read_environment(settings, (char *const[]){NULL});
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        cr_expect_null(settings[id].text.at, "%s", row(id)->name);
}
