/* SPDX-License-Identifier: Apache-2.0 */
#include "config/options.h"

#include <errno.h>

#include "config/utf8.h"

/* The shipped library leaves out what it does not need, to stay small. */
#if defined(OTELCTX_NO_HELP)
#define HELP(text) ""
#else
#define HELP(text) text
#endif

#define ANYWHERE    ""
#define ENVIRONMENT " Read from the environment only."

/* All rows' texts in one object: pointers to them would need relocations. */
#define UNSIGNED_TEXT(id, name, field, kind, expects, fallback, where, help)   \
    name "\0" expects HELP("\0" #fallback "\0" help where)
#define SPAN_TEXT(id, name, field, kind, fallback, where, help)                \
    name "\0" HELP("\0" fallback "\0" help where)
#define DECLARE_UNSIGNED(id, ...)                                              \
    char id[sizeof(UNSIGNED_TEXT(id, __VA_ARGS__))];
#define DECLARE_SPAN(id, ...)    char id[sizeof(SPAN_TEXT(id, __VA_ARGS__))];
#define DEFINE_UNSIGNED(id, ...) .id = UNSIGNED_TEXT(id, __VA_ARGS__),
#define DEFINE_SPAN(id, ...)     .id = SPAN_TEXT(id, __VA_ARGS__),
static const struct texts {
    OTELCTX_OPTIONS(DECLARE_UNSIGNED, DECLARE_SPAN)
} texts = {OTELCTX_OPTIONS(DEFINE_UNSIGNED, DEFINE_SPAN)};

#define LOCATE(id, field, kind, where)                                         \
    [OTELCTX_OPTION_##id] = {offsetof(struct texts, id),                       \
                             offsetof(struct otelctx_options, field),          \
                             OTELCTX_KIND_##kind, sizeof(where) > 1},
#define LOCATE_UNSIGNED(id, name, field, kind, expects, fallback, where, help) \
    LOCATE(id, field, kind, where)
#define LOCATE_SPAN(id, name, field, kind, fallback, where, help)              \
    LOCATE(id, field, kind, where)
static const struct {
    uint16_t text;
    uint16_t field; /* in struct otelctx_options */
    uint8_t kind;
    bool is_of_environment;
} rows[OTELCTX_OPTION_COUNT] = {OTELCTX_OPTIONS(LOCATE_UNSIGNED, LOCATE_SPAN)};

const char *otelctx_option_name(enum otelctx_option_id id)
{
    return (const char *)&texts + rows[id].text;
}

static const char *text_behind(const char *text)
{
    return text + strlen(text) + 1;
}

const char *otelctx_option_expects(enum otelctx_option_id id)
{
    return text_behind(otelctx_option_name(id));
}

enum otelctx_option_kind otelctx_option_kind(enum otelctx_option_id id)
{
    return rows[id].kind;
}

bool otelctx_option_is_of_environment(enum otelctx_option_id id)
{
    return rows[id].is_of_environment;
}

size_t otelctx_option_field(enum otelctx_option_id id)
{
    return rows[id].field;
}

/* The defaults as values: parsing texts took three quarters of the instructions
 * of a start. */
#define UNSIGNED_DEFAULT(id, name, field, kind, expects, fallback, ...)        \
    .field = (fallback),
#define SPAN_DEFAULT(id, name, field, kind, fallback, ...)                     \
    .field = {sizeof(fallback) > 1 ? "" fallback : NULL, sizeof(fallback) - 1},
void otelctx_options_set_defaults(struct otelctx_options *options)
{
    *options = (struct otelctx_options){
        OTELCTX_OPTIONS(UNSIGNED_DEFAULT, SPAN_DEFAULT)};
}

static void set_default(struct otelctx_options *options,
                        enum otelctx_option_id id)
{
    const size_t field = otelctx_option_field(id);
    struct otelctx_options defaults;

    otelctx_options_set_defaults(&defaults);
    memcpy((char *)options + field, (char *)&defaults + field,
           otelctx_option_kind(id) < OTELCTX_KIND_UTF8
               ? sizeof(unsigned)
               : sizeof(struct otelctx_span));
}

#if !defined(OTELCTX_NO_HELP)
static const char *written_default(enum otelctx_option_id id)
{
    return text_behind(otelctx_option_expects(id));
}

struct otelctx_span otelctx_option_fallback(enum otelctx_option_id id)
{
    const enum otelctx_option_kind kind = otelctx_option_kind(id);
    struct otelctx_span words = otelctx_span_from(otelctx_option_expects(id));
    struct otelctx_options defaults;
    struct otelctx_span word;
    unsigned number;

    if (kind > OTELCTX_KIND_LIST)
        return otelctx_span_from(written_default(id));
    otelctx_options_set_defaults(&defaults);
    memcpy(&number, (char *)&defaults + otelctx_option_field(id),
           sizeof(number));
    if (kind == OTELCTX_KIND_LIST) /* of no bits, the last word */
        number = (unsigned)__builtin_ffs((int)number) - 1;
    do
        word = otelctx_span_cut(&words, kind == OTELCTX_KIND_WORD ? '|' : ',');
    while (number-- > 0 && words.size > 0);
    return word;
}

const char *otelctx_option_help(enum otelctx_option_id id)
{
    return text_behind(written_default(id));
}
#endif

bool otelctx_options_concern(const char *string)
{
    /* Most strings need no call of strncmp. */
    return (*string == 'O' && strncmp(string, "OTEL", 4) == 0) ||
           (*string == 'T' && strncmp(string, "TRACEPARENT=", 12) == 0);
}

enum otelctx_option_id otelctx_options_find(struct otelctx_span name)
{
    unsigned id = 0;

    while (
        id < OTELCTX_OPTION_COUNT &&
        !otelctx_span_equal(name, otelctx_span_from(otelctx_option_name(id))))
        id++;
    return id;
}

/* Variables that only the bridges of demo/sdk/ read. */
static bool is_for_bridges(struct otelctx_span name)
{
    return otelctx_span_equal(name, OTELCTX_SPAN("OTELCTX_SPAN_ATTRIBUTES")) ||
           otelctx_span_equal(name, OTELCTX_SPAN("OTELCTX_RESOURCE"));
}

/* The setting of a variable that is no option, or OTELCTX_SETTINGS_COUNT. */
static unsigned find_no_option(struct otelctx_span name)
{
    if (otelctx_span_equal(name, OTELCTX_SPAN(OTELCTX_DECLARATIVE)))
        return OTELCTX_SETTING_DECLARATIVE;
    return otelctx_span_begins(name, OTELCTX_SPAN("OTELCTX_")) &&
                   !is_for_bridges(name)
               ? OTELCTX_SETTING_UNKNOWN
               : OTELCTX_SETTINGS_COUNT;
}

void otelctx_options_read_environment(
    struct otelctx_setting settings[OTELCTX_SETTINGS_COUNT], char *const *envp)
{
    bool is_sdks = false; /* does a bridge publish the SDK's resource? */

    for (; envp && *envp; envp++) {
        struct otelctx_span all, value, name;
        unsigned id;

        if (!otelctx_options_concern(*envp))
            continue;
        all = value = otelctx_span_from(*envp);
        name = otelctx_span_cut(&value, '=');
        id = otelctx_options_find(name);
        if (id == OTELCTX_OPTION_COUNT) {
            is_sdks |=
                otelctx_span_equal(all, OTELCTX_SPAN("OTELCTX_RESOURCE=sdk"));
            id = find_no_option(name);
            if (id == OTELCTX_SETTINGS_COUNT)
                continue;
        }
        if (id == OTELCTX_SETTING_UNKNOWN) {
            value = all;
            settings[id].line++;
        }
        if (value.size > 0 && !settings[id].text.at)
            settings[id].text = value;
    }
    if (is_sdks)
        settings[OTELCTX_SETTING_DECLARATIVE].text.at = NULL;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool equal_in_any_case(struct otelctx_span text,
                              struct otelctx_span lower_case)
{
    if (text.size != lower_case.size)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (lower(text.at[i]) != lower_case.at[i])
            return false;
    return true;
}

static int fail(size_t pos, const char *why, struct otelctx_fault *fault)
{
    *fault = (struct otelctx_fault){.pos = pos, .why = why};
    return -EINVAL;
}

/* The number of a word in "a|b|c", or -1. */
static int word_number(struct otelctx_span words, char separator,
                       struct otelctx_span text)
{
    for (int number = 0; words.size > 0; number++)
        if (equal_in_any_case(text, otelctx_span_cut(&words, separator)))
            return number;
    return -1;
}

static int parse_word(const char *expects, struct otelctx_span text,
                      unsigned *out, struct otelctx_fault *fault)
{
    const int number = word_number(otelctx_span_from(expects), '|', text);

    if (number < 0)
        return fail(1, expects, fault);
    *out = (unsigned)number;
    return 0;
}

static int parse_list(const char *expects, struct otelctx_span text,
                      unsigned *out, struct otelctx_fault *fault)
{
    const struct otelctx_span words = otelctx_span_from(expects);
    struct otelctx_span rest = text, word;
    bool is_empty = true;
    int off = 0; /* the number of the last word */

    for (size_t i = 0; i < words.size; i++)
        off += words.at[i] == ',';
    *out = 0;
    while ((word = otelctx_span_member(&rest)).size > 0) {
        const int number = word_number(words, ',', word);

        if (number < 0 || (number == off && word.size < text.size))
            return fail((size_t)(word.at - text.at) + 1, expects, fault);
        if (number < off)
            *out |= 1U << number;
        is_empty = false;
    }
    return is_empty ? fail(1, expects, fault) : 0;
}

/* Parse a decimal number. Returns UINT64_MAX for a text that is none, or that
 * is longer than 10 digits. */
static uint64_t number_in(struct otelctx_span text)
{
    uint64_t number = 0;

    if (text.size == 0 || text.size > 10)
        return UINT64_MAX;
    for (size_t i = 0; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return UINT64_MAX;
        number = number * 10 + (uint64_t)(text.at[i] - '0');
    }
    return number;
}

static int parse_number(const char *expects, struct otelctx_span text,
                        unsigned *out, struct otelctx_fault *fault)
{
    struct otelctx_span highest = otelctx_span_from(expects);
    const uint64_t least = number_in(otelctx_span_cut(&highest, '.'));
    const uint64_t number = number_in(text);

    (void)otelctx_span_cut(&highest, '.'); /* the second of the two */
    if (number < least || number > number_in(highest))
        return fail(1, expects, fault);
    *out = (unsigned)number;
    return 0;
}

static int parse_value(enum otelctx_option_id id, struct otelctx_span text,
                       void *field, struct otelctx_fault *fault)
{
    const enum otelctx_option_kind kind = otelctx_option_kind(id);
    const char *expects = otelctx_option_expects(id);

    if (kind == OTELCTX_KIND_WORD)
        return parse_word(expects, text, field, fault);
    if (kind == OTELCTX_KIND_LIST)
        return parse_list(expects, text, field, fault);
    if (kind == OTELCTX_KIND_NUMBER)
        return parse_number(expects, text, field, fault);
    if (kind < OTELCTX_KIND_BYTES && otelctx_utf8_valid(text) < text.size)
        return fail(otelctx_utf8_valid(text) + 1, "valid UTF-8", fault);
    memcpy(field, &text, sizeof(text));
    return 0;
}

int otelctx_options_apply(struct otelctx_options *options,
                          enum otelctx_option_id id, struct otelctx_span text,
                          struct otelctx_fault *fault)
{
    int err = 0;

    if (text.at)
        err = parse_value(id, text, (char *)options + otelctx_option_field(id),
                          fault);
    if (!text.at || err)
        set_default(options, id);
    return err;
}
