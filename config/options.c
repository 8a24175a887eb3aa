/* SPDX-License-Identifier: Apache-2.0 */
#include "config/options.h"

#include <errno.h>

#include "config/utf8.h"

/*
 * The options, one row each:
 *
 *   ROW(id, name, field, expects, default, help)
 *
 * expects  words "a|b|c", of which the value is the number of one; a list of
 *          words "a,b,off", of which the value has a bit each, and none for the
 *          last word, which stands alone; a range "1..9" of decimal numbers;
 *          "valid UTF-8" for a text that is taken literally; "" for any bytes:
 *          a path, or a text that has its own parser
 * default  written as a user would; "" is unset
 * help     sentences for the man page
 */
#define OPTIONS(ROW)                                                           \
    ROW(LOG_LEVEL, "OTELCTX_LOG_LEVEL", log_level,                             \
        "none|error|warn|info|debug", "error",                                 \
        "What the shim prints to stderr: `error` means that a setting is "     \
        "wrong, "                                                              \
        "`warn` that this process cannot publish or that a setting is "        \
        "doubtful, "                                                           \
        "and `debug` tells what was decided, and why.")                        \
    ROW(SDK_DISABLED, "OTEL_SDK_DISABLED", sdk_disabled, "false|true",         \
        "false",                                                               \
        "`true` disables the shim and every OpenTelemetry SDK in the "         \
        "process.")                                                            \
    ROW(DISABLED, "OTELCTX_DISABLED", disabled, "false|true", "false",         \
        "`true` disables the shim only.")                                      \
    ROW(CONFIG_FILE, "OTELCTX_CONFIG_FILE", config_file, "",                   \
        "/etc/otelctx/otelctx.conf",                                           \
        "Path of the configuration file. Read from the environment only.")     \
    ROW(INCLUDE_PATHS, "OTELCTX_INCLUDE_PATHS", include_paths, "", "",         \
        "Globs for the path of the executable, separated by commas: "          \
        "`/srv/*,*/python3*`. The shim does nothing in executables that "      \
        "match none of them.")                                                 \
    ROW(EXCLUDE_PATHS, "OTELCTX_EXCLUDE_PATHS", exclude_paths, "", "",         \
        "Globs for the path of the executable, separated by commas. The "      \
        "shim does nothing in executables that match one of them.")            \
    ROW(PUBLISH, "OTELCTX_PUBLISH", publish, "always|configured", "always",    \
        "`always` publishes at start. `configured` publishes at start only "   \
        "when at least one attribute is configured, for machines that "        \
        "preload into every program.")                                         \
    ROW(SERVICE_NAME, "OTEL_SERVICE_NAME", service_name, "valid UTF-8", "",    \
        "The `service.name`, taken literally. Overrides the one in the "       \
        "attributes. Without either, the name is `unknown_service:` and "      \
        "the base name of the file that was executed, also of a script.")      \
    ROW(RESOURCE_ATTRIBUTES, "OTEL_RESOURCE_ATTRIBUTES", resource_attributes,  \
        "", "",                                                                \
        "Resource attributes: `key=value,key=value`, percent-encoded where "   \
        "needed (a comma is `%2C`).")                                          \
    ROW(EXTRA_ATTRIBUTES, "OTELCTX_EXTRA_ATTRIBUTES", extra_attributes, "",    \
        "",                                                                    \
        "Attributes beside the resource (field `extra_attributes` of the "     \
        "payload), in the same format.")                                       \
    ROW(ENTITIES, "OTEL_ENTITIES", entities, "", "",                           \
        "What the process belongs to: "                                        \
        "`type{id=value}[description=value]@schema_url`, with `;` between "    \
        "entities.")                                                           \
    ROW(ATTRIBUTE_KEYS, "OTELCTX_ATTRIBUTE_KEYS", attribute_keys,              \
        "valid UTF-8", "",                                                     \
        "Keys of thread attributes to publish at start, in the order of "      \
        "their indexes: `http.route,user.id`. A program can add more at "      \
        "run time.")                                                           \
    ROW(SCHEMA_VERSION, "OTELCTX_SCHEMA_VERSION", schema_version,              \
        "valid UTF-8", "tlsdesc_v1_dev",                                       \
        "How readers find thread contexts: the value of "                      \
        "`threadlocal.schema_version`. Today's readers accept "                \
        "`tlsdesc_v1_dev` only.")                                              \
    ROW(THREAD_STORAGE, "OTELCTX_THREAD_STORAGE", thread_storage,              \
        "tls,ring,profiler,off", "tls",                                        \
        "Where threads store their contexts, one or several, separated by "    \
        "commas: `tls` is OTEP 4947, `ring` a buffer that readers find by "    \
        "thread id, `profiler` a variable for a profiler in the process.")     \
    ROW(RING_CAPACITY, "OTELCTX_RING_CAPACITY", ring_capacity, "1..4194304",   \
        "65536", "How many slots of 32 bytes the `ring` has.")                 \
    ROW(TRACEPARENT_FOR, "OTELCTX_TRACEPARENT", traceparent_for,               \
        "off|main|all", "off",                                                 \
        "Which threads start with the context in `TRACEPARENT`. Leave this "   \
        "`off` in a program with an OpenTelemetry SDK.")                       \
    ROW(TRACEPARENT, "TRACEPARENT", traceparent, "", "",                       \
        "The trace and span that started this program, as in W3C Trace "       \
        "Context. Read from the environment only.")                            \
    ROW(FORK, "OTELCTX_FORK", fork, "republish|drop", "republish",             \
        "What a forked child does before `fork()` returns in it: "             \
        "`republish` its parent's attributes in a context of its own, or "     \
        "`drop` the context.")                                                 \
    ROW(CHILDREN, "OTELCTX_CHILDREN", children, "preload|leave", "preload",    \
        "What programs that this process executes inherit: `leave` takes the " \
        "shim off the `LD_PRELOAD` that they get, so that they have no "       \
        "context.")                                                            \
    ROW(INSTANCE_ID, "OTELCTX_INSTANCE_ID", instance_id,                       \
        "off|generate|export", "off",                                          \
        "`generate` gives each process without a configured "                  \
        "`service.instance.id` a random one. `export` also shows it to the "   \
        "SDKs in the process.")                                                \
    ROW(EXPORTED_ID, "OTELCTX_EXPORTED_ID", exported_id, "", "",               \
        "The id that `OTELCTX_INSTANCE_ID=export` added to "                   \
        "`OTEL_RESOURCE_ATTRIBUTES`. The shim sets this variable. Read "       \
        "from the environment only.")                                          \
    ROW(ON_OTHER_PUBLISHER, "OTELCTX_ON_OTHER_PUBLISHER", on_other_publisher,  \
        "yield|keep", "yield",                                                 \
        "What the shim does when an SDK in the process publishes a context "   \
        "too: `yield` to the SDK, or `keep` publishing a second one.")

/* The shipped library leaves the help texts out, to stay small. */
#if defined(OTELCTX_NO_HELP)
#define HELP(text) ""
#else
#define HELP(text) text
#endif

/* All rows' texts in one object: pointers to them would need relocations. */
#define TEXT(name, expects, fallback, help)                                    \
    name "\0" expects "\0" fallback "\0" HELP(help)
#define DECLARE(id, name, field, expects, fallback, help)                      \
    char id[sizeof(TEXT(name, expects, fallback, help))];
#define DEFINE(id, name, field, expects, fallback, help)                       \
    .id = TEXT(name, expects, fallback, help),
static const struct texts {
    OPTIONS(DECLARE)
} texts = {OPTIONS(DEFINE)};

#define LOCATE(id, name, field, expects, fallback, help)                       \
    [OTELCTX_OPTION_##id] = {offsetof(struct texts, id),                       \
                             offsetof(struct otelctx_options, field)},
static const struct {
    uint16_t text;
    uint16_t field; /* in struct otelctx_options */
} rows[OTELCTX_OPTION_COUNT] = {OPTIONS(LOCATE)};

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
    const struct otelctx_span expects =
        otelctx_span_from(otelctx_option_expects(id));

    if (memchr(expects.at, '|', expects.size))
        return OTELCTX_KIND_WORD;
    if (memchr(expects.at, ',', expects.size))
        return OTELCTX_KIND_LIST;
    if (memchr(expects.at, '.', expects.size))
        return OTELCTX_KIND_NUMBER;
    return expects.size > 0 ? OTELCTX_KIND_UTF8 : OTELCTX_KIND_BYTES;
}

const char *otelctx_option_fallback(enum otelctx_option_id id)
{
    return text_behind(otelctx_option_expects(id));
}

const char *otelctx_option_help(enum otelctx_option_id id)
{
    return text_behind(otelctx_option_fallback(id));
}

size_t otelctx_option_field(enum otelctx_option_id id)
{
    return rows[id].field;
}

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
    const char *expects = otelctx_option_expects(id);
    size_t valid = text.size;

    switch (otelctx_option_kind(id)) {
    case OTELCTX_KIND_WORD:
        return parse_word(expects, text, field, fault);
    case OTELCTX_KIND_LIST:
        return parse_list(expects, text, field, fault);
    case OTELCTX_KIND_NUMBER:
        return parse_number(expects, text, field, fault);
    case OTELCTX_KIND_UTF8:
        valid = otelctx_utf8_valid(text);
        break;
    case OTELCTX_KIND_BYTES:
        break;
    }
    if (valid < text.size)
        return fail(valid + 1, expects, fault);
    memcpy(field, &text, sizeof(text));
    return 0;
}

int otelctx_options_apply(struct otelctx_options *options,
                          enum otelctx_option_id id, struct otelctx_span text,
                          struct otelctx_fault *fault)
{
    void *const field = (char *)options + otelctx_option_field(id);
    struct otelctx_fault none;
    int err = 0;

    if (text.at)
        err = parse_value(id, text, field, fault);
    if (!text.at || err) {
        text = otelctx_span_from(otelctx_option_fallback(id));
        if (text.size == 0)
            text.at = NULL;
        (void)parse_value(id, text, field, &none);
    }
    return err;
}

/* The defaults of the table, as values: parsing the table's texts took three
 * quarters of the instructions of a start. */
void otelctx_options_set_defaults(struct otelctx_options *options)
{
    *options = (struct otelctx_options){
        .log_level = OTELCTX_LOG_ERROR,
        .config_file = OTELCTX_SPAN_INIT("/etc/otelctx/otelctx.conf"),
        .schema_version = OTELCTX_SPAN_INIT("tlsdesc_v1_dev"),
        .thread_storage = OTELCTX_STORAGE_TLS,
        .ring_capacity = 65536,
    };
}
