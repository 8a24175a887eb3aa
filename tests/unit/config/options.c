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

static const char *name(unsigned id)
{
    return otelctx_option_name(id);
}

static const char *expected(unsigned id)
{
    return otelctx_option_expects(id);
}

static bool is_text(unsigned id)
{
    return otelctx_option_kind(id) >= OTELCTX_KIND_UTF8;
}

static bool is_word(unsigned id)
{
    return otelctx_option_kind(id) == OTELCTX_KIND_WORD;
}

/* The words that an option expects; none: it is a text. */
static unsigned words_of(unsigned id, char words[8][28])
{
    const char *at = expected(id);
    unsigned count = 0;

    for (; is_word(id) && *at; count++) {
        const size_t size = strcspn(at, "|");

        snprintf(words[count], sizeof(words[count]), "%.*s", (int)size, at);
        at += size + (at[size] == '|');
    }
    return count;
}

static int apply(struct otelctx_options *options, unsigned id, const char *text)
{
    struct otelctx_fault fault = {0};

    return otelctx_options_apply(options, id, otelctx_span_from(text), &fault);
}

static const void *field_of(const struct otelctx_options *options, unsigned id)
{
    return (const char *)options + otelctx_option_field(id);
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
        cr_expect(strncmp(name(a), "OTEL", 4) == 0 ||
                      strcmp(name(a), "TRACEPARENT") == 0,
                  "%s", name(a));
        cr_expect_null(strpbrk(name(a), "= \t#,"), "%s", name(a));
        for (unsigned b = 0; b < OTELCTX_OPTION_COUNT; b++)
            cr_expect(a == b || strcmp(name(a), name(b)) != 0, "%s", name(a));
    }
}

Test(options_table, has_one_line_of_help_in_each_row)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const size_t size = strlen(otelctx_option_help(id));

        cr_assert_gt(size, 0, "%s", name(id));
        cr_expect_null(strchr(otelctx_option_help(id), '\n'), "%s", name(id));
        cr_expect_eq(otelctx_option_help(id)[size - 1], '.', "%s", name(id));
    }
}

Test(options_table, has_a_field_of_its_own_for_each_row)
{
    for (unsigned a = 0; a < OTELCTX_OPTION_COUNT; a++) {
        const size_t size =
            is_text(a) ? sizeof(struct otelctx_span) : sizeof(unsigned);

        cr_expect_leq(otelctx_option_field(a) + size,
                      sizeof(struct otelctx_options));
        for (unsigned b = 0; b < OTELCTX_OPTION_COUNT; b++)
            cr_expect(
                a == b || otelctx_option_field(b) < otelctx_option_field(a) ||
                    otelctx_option_field(b) >= otelctx_option_field(a) + size,
                "%s and %s", name(a), name(b));
    }
}

Test(options_table, has_lower_case_words)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        for (const char *c = is_text(id) ? "" : expected(id); *c; c++)
            cr_expect_not(isupper((unsigned char)*c), "%s", name(id));
}

Test(options, are_found_by_their_exact_name)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        cr_expect_eq(otelctx_options_find(otelctx_span_from(name(id))), id);
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
    cr_expect_eq(options.thread_storage, OTELCTX_STORAGE_TLS);
    cr_expect_eq(options.ring_capacity, 65536);
    cr_expect_eq(options.traceparent_for, OTELCTX_TRACEPARENT_OFF);
    cr_expect_null(options.traceparent.at);
}

Test(options, have_the_defaults_that_the_manual_says)
{
    struct otelctx_options options, defaults;
    struct otelctx_fault fault;

    memset(&options, 0xff, sizeof(options));
    otelctx_options_set_defaults(&defaults);
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        struct otelctx_span text = otelctx_option_fallback(id);

        if (text.size == 0) {
            cr_expect(is_text(id), "%s has no default", name(id));
            text.at = NULL;
        }
        cr_expect_eq(otelctx_options_apply(&options, id, text, &fault), 0, "%s",
                     name(id));
    }
    cr_expect(same_options(&options, &defaults));
}

Test(options, without_a_text_have_their_default)
{
    struct otelctx_options options, defaults;
    struct otelctx_fault fault;

    memset(&options, 0xff, sizeof(options));
    otelctx_options_set_defaults(&defaults);
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        cr_expect_eq(otelctx_options_apply(
                         &options, id, (struct otelctx_span){NULL, 0}, &fault),
                     0);
        if (is_text(id))
            cr_expect_eq(!text_of(&options, id).at, !text_of(&defaults, id).at,
                         "%s", name(id));
    }
    cr_expect(same_options(&options, &defaults));
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
        cr_expect_eq(apply(&options, id, text), 0, "%s=%s", name(id), text);
        cr_expect_eq(word_of(&options, id), number, "%s=%s", name(id), text);
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

        if (!is_word(id))
            continue;
        otelctx_options_set_defaults(&defaults);
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            struct otelctx_options options = defaults;
            struct otelctx_fault fault = {0};

            cr_expect_eq(otelctx_options_apply(
                             &options, id, otelctx_span_from(bad[i]), &fault),
                         -EINVAL, "%s=%s", name(id), bad[i]);
            cr_expect_eq(fault.pos, 1);
            cr_expect_str_eq(fault.why, expected(id));
            cr_expect(same_options(&options, &defaults), "%s=%s", name(id),
                      bad[i]);
        }
    }
}

static size_t fault_of(unsigned id, const char *text)
{
    struct otelctx_options options = {0};
    struct otelctx_fault fault = {0};

    if (!otelctx_options_apply(&options, id, otelctx_span_from(text), &fault))
        return 0;
    cr_expect_str_eq(fault.why, expected(id), "%s", text);
    return fault.pos;
}

static unsigned storage_of(const char *text)
{
    struct otelctx_options options = {0};

    cr_expect_eq(apply(&options, OTELCTX_OPTION_THREAD_STORAGE, text), 0, "%s",
                 text);
    return options.thread_storage;
}

Test(options, a_list_has_a_bit_for_each_word)
{
    cr_expect_eq(storage_of("tls"), OTELCTX_STORAGE_TLS);
    cr_expect_eq(storage_of("ring"), OTELCTX_STORAGE_RING);
    cr_expect_eq(storage_of("profiler"), OTELCTX_STORAGE_PROFILER);
    cr_expect_eq(storage_of("Profiler,TLS,tls"),
                 OTELCTX_STORAGE_PROFILER | OTELCTX_STORAGE_TLS);
    cr_expect_eq(storage_of(" ring ,, tls,"),
                 OTELCTX_STORAGE_RING | OTELCTX_STORAGE_TLS);
    cr_expect_eq(storage_of("OFF"), 0);
}

Test(options, a_fault_in_a_list_is_at_the_word)
{
    const unsigned id = OTELCTX_OPTION_THREAD_STORAGE;

    cr_expect_eq(fault_of(id, "tls,rong"), 5);
    cr_expect_eq(fault_of(id, "tls, off"), 6);
    cr_expect_eq(fault_of(id, "off,tls"), 1);
    cr_expect_eq(fault_of(id, ","), 1);
    cr_expect_eq(fault_of(id, "tls|ring"), 1);
}

Test(options, a_number_is_within_its_range)
{
    const unsigned id = OTELCTX_OPTION_RING_CAPACITY;
    struct otelctx_options options = {0};

    cr_expect_eq(apply(&options, id, "1"), 0);
    cr_expect_eq(options.ring_capacity, 1);
    cr_expect_eq(apply(&options, id, "4194304"), 0);
    cr_expect_eq(options.ring_capacity, 1 << 22);
    cr_expect_eq(fault_of(id, "0"), 1);
    cr_expect_eq(fault_of(id, "4194305"), 1);
    cr_expect_eq(fault_of(id, "-1"), 1);
    cr_expect_eq(fault_of(id, "64k"), 1);
    cr_expect_eq(fault_of(id, "0x40"), 1);
    cr_expect_eq(fault_of(id, "18446744073709551617"), 1);
    cr_expect_eq(fault_of(id, "1..4194304"), 1);
}

Test(options, the_fault_of_a_switch_names_both_words)
{
    struct otelctx_options options = {0};
    struct otelctx_fault fault = {0};

    (void)otelctx_options_apply(&options, OTELCTX_OPTION_DISABLED,
                                OTELCTX_SPAN("1"), &fault);
    cr_expect_str_eq(fault.why, "false|true");
}

Test(options, texts_are_taken_as_they_are)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        static const char text[] = " a=%41, \"b\"\t";
        struct otelctx_options options = {0};

        if (!is_text(id))
            continue;
        cr_expect_eq(apply(&options, id, text), 0, "%s", name(id));
        cr_expect_eq(text_of(&options, id).at, text, "%s", name(id));
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
                     -EINVAL, "%s", name(ids[i]));
        cr_expect_eq(fault.pos, 4);
        cr_expect_str_eq(fault.why, "valid UTF-8");
        cr_expect(otelctx_span_equal(text_of(&options, ids[i]),
                                     otelctx_option_fallback(ids[i])));
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
        char variable[40];

        (void)snprintf(variable, sizeof(variable), "%.30s=", name(id));
        cr_expect(otelctx_options_concern(variable), "%s", variable);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        cr_expect_not(otelctx_options_concern(others[i]), "%s", others[i]);
}

#define ENVIRONMENT(settings, ...)                                             \
    struct otelctx_setting settings[OTELCTX_SETTINGS_COUNT] = {0};             \
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
                  "%s", name(id));
}

Test(environment, gives_every_option)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        char variable[40];

        (void)snprintf(variable, sizeof(variable), "%.30s=x", name(id));
        ENVIRONMENT(settings, "A=b", variable);
        cr_expect(is(settings[id].text, "x"), "%s", name(id));
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
        cr_expect_null(settings[id].text.at, "%s", name(id));
}

Test(environment, notes_the_first_unknown_variable_and_counts_all)
{
    ENVIRONMENT(settings, "OTEL_UNHEARD=1", "OTELCTX_A=1", "OTELCTX_FORK=drop",
                "OTELCTX_B=", "OTELCTX_C");

    cr_expect(is(settings[OTELCTX_OPTION_COUNT].text, "OTELCTX_A=1"));
    cr_expect_eq(settings[OTELCTX_OPTION_COUNT].line, 3);
}

Test(environment, knows_the_variables_of_bridges)
{
    ENVIRONMENT(settings, "OTELCTX_SPAN_ATTRIBUTES=http.route",
                "OTELCTX_RESOURCE=sdk", "OTELCTX_RESOURCES=sdk",
                "OTELCTX_SPAN=1");

    cr_expect(is(settings[OTELCTX_OPTION_COUNT].text, "OTELCTX_RESOURCES=sdk"));
    cr_expect_eq(settings[OTELCTX_OPTION_COUNT].line, 2);
}

Test(environment, may_be_missing)
{
    struct otelctx_setting settings[OTELCTX_SETTINGS_COUNT] = {0};

    otelctx_options_read_environment(settings, NULL);
    otelctx_options_read_environment(settings, (char *const[]){NULL});
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        cr_expect_null(settings[id].text.at, "%s", name(id));
}
