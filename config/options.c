/* SPDX-License-Identifier: Apache-2.0 */
#include "config/options.h"

#include <errno.h>

#include "config/utf8.h"

enum kind {
    BYTES, /* anything: a path, or a text that has its own parser */
    UTF8,  /* taken literally */
    WORD,  /* one of those that `expects` lists; the value is its number */
};

#define EXPECTED "expected "
#define SWITCH   EXPECTED "false|true"
#define FIELD(f) offsetof(struct otelctx_options, f)

const struct otelctx_option otelctx_options_table[OTELCTX_OPTION_COUNT] = {
    [OTELCTX_OPTION_LOG_LEVEL] =
        {
            .name = "OTELCTX_LOG_LEVEL",
            .kind = WORD,
            .field = FIELD(log_level),
            .expects = EXPECTED "none|error|warn|info|debug",
            .fallback = "error",
            .help = OTELCTX_HELP(
                "What is said on stderr: `none`, `error` (something you "
                "wrote is wrong), `warn` (this process cannot publish, and "
                "why), `info`, `debug`."),
        },
    [OTELCTX_OPTION_SDK_DISABLED] =
        {
            .name = "OTEL_SDK_DISABLED",
            .kind = WORD,
            .field = FIELD(sdk_disabled),
            .expects = SWITCH,
            .fallback = "false",
            .help = OTELCTX_HELP(
                "`true`: the shim does nothing, like every OpenTelemetry "
                "SDK in the process."),
        },
    [OTELCTX_OPTION_DISABLED] =
        {
            .name = "OTELCTX_DISABLED",
            .kind = WORD,
            .field = FIELD(disabled),
            .expects = SWITCH,
            .fallback = "false",
            .help = OTELCTX_HELP("`true`: the shim alone does nothing."),
        },
    [OTELCTX_OPTION_CONFIG_FILE] =
        {
            .name = "OTELCTX_CONFIG_FILE",
            .kind = BYTES,
            .field = FIELD(config_file),
            .fallback = "/etc/otelctx/otelctx.conf",
            .help = OTELCTX_HELP(
                "The configuration file: these same names, one "
                "`NAME=value` a line. Only read from the environment."),
        },
    [OTELCTX_OPTION_INCLUDE_PATHS] =
        {
            .name = "OTELCTX_INCLUDE_PATHS",
            .kind = BYTES,
            .field = FIELD(include_paths),
            .help = OTELCTX_HELP(
                "When set, the shim does nothing in executables whose path "
                "matches none of these globs: `/srv/*,*/python3*`."),
        },
    [OTELCTX_OPTION_EXCLUDE_PATHS] =
        {
            .name = "OTELCTX_EXCLUDE_PATHS",
            .kind = BYTES,
            .field = FIELD(exclude_paths),
            .help = OTELCTX_HELP(
                "The shim does nothing in executables whose path matches "
                "one of these globs."),
        },
    [OTELCTX_OPTION_PUBLISH] =
        {
            .name = "OTELCTX_PUBLISH",
            .kind = WORD,
            .field = FIELD(publish),
            .expects = EXPECTED "always|configured",
            .fallback = "always",
            .help = OTELCTX_HELP(
                "`configured`: publish at start only if there is at least "
                "one attribute, for hosts that preload into everything."),
        },
    [OTELCTX_OPTION_SERVICE_NAME] =
        {
            .name = "OTEL_SERVICE_NAME",
            .kind = UTF8,
            .field = FIELD(service_name),
            .help = OTELCTX_HELP(
                "`service.name`, taken literally; beats the attributes. "
                "Without either it is `unknown_service:` and the name of "
                "the executable."),
        },
    [OTELCTX_OPTION_RESOURCE_ATTRIBUTES] =
        {
            .name = "OTEL_RESOURCE_ATTRIBUTES",
            .kind = BYTES,
            .field = FIELD(resource_attributes),
            .help =
                OTELCTX_HELP("Resource attributes, `key=value,key=value`, both "
                             "percent-encoded where needed."),
        },
    [OTELCTX_OPTION_EXTRA_ATTRIBUTES] =
        {
            .name = "OTELCTX_EXTRA_ATTRIBUTES",
            .kind = BYTES,
            .field = FIELD(extra_attributes),
            .help = OTELCTX_HELP(
                "Attributes beside the resource (`extra_attributes` of the "
                "payload), in the same format."),
        },
    [OTELCTX_OPTION_ATTRIBUTE_KEYS] =
        {
            .name = "OTELCTX_ATTRIBUTE_KEYS",
            .kind = UTF8,
            .field = FIELD(attribute_keys),
            .help = OTELCTX_HELP(
                "Keys of thread attributes to announce at start, "
                "`http.route,user.id`, in the order of their indexes; more "
                "come at run time."),
        },
    [OTELCTX_OPTION_SCHEMA_VERSION] =
        {
            .name = "OTELCTX_SCHEMA_VERSION",
            .kind = UTF8,
            .field = FIELD(schema_version),
            .fallback = "tlsdesc_v1_dev",
            .help = OTELCTX_HELP(
                "How readers are told to find thread contexts: `tls_v1` for "
                "readers to come, `go_pprof_labels_v1` (without keys) in a "
                "Go program."),
        },
    [OTELCTX_OPTION_TRACEPARENT_FOR] =
        {
            .name = "OTELCTX_TRACEPARENT",
            .kind = WORD,
            .field = FIELD(traceparent_for),
            .expects = EXPECTED "off|main|all",
            .fallback = "off",
            .help = OTELCTX_HELP(
                "Which threads start with the context that `TRACEPARENT` "
                "names: none, `main` or `all`. Not for programs with an "
                "SDK."),
        },
    [OTELCTX_OPTION_TRACEPARENT] =
        {
            .name = "TRACEPARENT",
            .kind = BYTES,
            .field = FIELD(traceparent),
            .help = OTELCTX_HELP(
                "The trace and span that started this program, as in W3C "
                "Trace Context. Only read from the environment."),
        },
    [OTELCTX_OPTION_FORK] =
        {
            .name = "OTELCTX_FORK",
            .kind = WORD,
            .field = FIELD(fork),
            .expects = EXPECTED "republish|drop",
            .fallback = "republish",
            .help = OTELCTX_HELP(
                "What a forked child that executes nothing else does: "
                "`republish` its parent's context as its own, or `drop` it."),
        },
    [OTELCTX_OPTION_INSTANCE_ID] =
        {
            .name = "OTELCTX_INSTANCE_ID",
            .kind = WORD,
            .field = FIELD(instance_id),
            .expects = EXPECTED "off|generate|export",
            .fallback = "off",
            .help = OTELCTX_HELP(
                "`generate` a random `service.instance.id` for each process "
                "that you gave none, or `export` it to the SDKs in there, "
                "too."),
        },
    [OTELCTX_OPTION_EXPORTED_ID] =
        {
            .name = "OTELCTX_EXPORTED_ID",
            .kind = BYTES,
            .field = FIELD(exported_id),
            .help = OTELCTX_HELP(
                "Set by `OTELCTX_INSTANCE_ID=export`: the id among "
                "`OTEL_RESOURCE_ATTRIBUTES` that is the shim's, not yours."),
        },
    [OTELCTX_OPTION_ON_OTHER_PUBLISHER] =
        {
            .name = "OTELCTX_ON_OTHER_PUBLISHER",
            .kind = WORD,
            .field = FIELD(on_other_publisher),
            .expects = EXPECTED "yield|keep",
            .fallback = "yield",
            .help = OTELCTX_HELP(
                "When an SDK in the process publishes, too: `yield` to it, "
                "so that there is one context, or `keep` publishing."),
        },
};

bool otelctx_options_concern(const char *string)
{
    /* No call for the many that begin otherwise. */
    return (*string == 'O' && strncmp(string, "OTEL", 4) == 0) ||
           (*string == 'T' && strncmp(string, "TRACEPARENT=", 12) == 0);
}

enum otelctx_option_id otelctx_options_find(struct otelctx_span name)
{
    unsigned id = 0;

    while (id < OTELCTX_OPTION_COUNT &&
           !otelctx_span_equal(
               name, otelctx_span_from(otelctx_options_table[id].name)))
        id++;
    return id;
}

void otelctx_options_read_environment(
    struct otelctx_setting settings[OTELCTX_OPTION_COUNT], char *const *envp)
{
    for (; envp && *envp; envp++) {
        struct otelctx_span value, name;
        enum otelctx_option_id id;

        if (!otelctx_options_concern(*envp))
            continue;
        value = otelctx_span_from(*envp);
        name = otelctx_span_cut(&value, '=');
        id = otelctx_options_find(name);
        if (id < OTELCTX_OPTION_COUNT && value.size > 0 &&
            !settings[id].text.at)
            settings[id] = (struct otelctx_setting){.text = value};
    }
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

/* The number of a word in "a|b|c", or -1. */
static int word_number(struct otelctx_span words, struct otelctx_span text)
{
    for (int number = 0; words.size > 0; number++)
        if (equal_in_any_case(text, otelctx_span_cut(&words, '|')))
            return number;
    return -1;
}

static int fail(size_t pos, const char *why, struct otelctx_fault *fault)
{
    *fault = (struct otelctx_fault){.pos = pos, .why = why};
    return -EINVAL;
}

int otelctx_options_apply(struct otelctx_options *options,
                          enum otelctx_option_id id, struct otelctx_span text,
                          struct otelctx_fault *fault)
{
    const struct otelctx_option *option = &otelctx_options_table[id];
    char *field = (char *)options + option->field;
    size_t valid;
    int number;

    switch ((enum kind)option->kind) {
    case WORD:
        number = word_number(
            otelctx_span_from(option->expects + sizeof(EXPECTED) - 1), text);
        if (number < 0)
            return fail(1, option->expects, fault);
        memcpy(field, &(unsigned){(unsigned)number}, sizeof(unsigned));
        return 0;
    case UTF8:
        valid = otelctx_utf8_valid(text);
        if (valid < text.size)
            return fail(valid + 1, "expected valid UTF-8", fault);
        break;
    case BYTES:
        break;
    }
    memcpy(field, &text, sizeof(text));
    return 0;
}

void otelctx_options_set_defaults(struct otelctx_options *options)
{
    struct otelctx_fault none;

    memset(options, 0, sizeof(*options));
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const char *fallback = otelctx_options_table[id].fallback;

        if (*fallback)
            (void)otelctx_options_apply(options, id,
                                        otelctx_span_from(fallback), &none);
    }
}
