/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/options.h"

#include "config/check.h"
#include "demo/base/escape.h"
#include "demo/run/memory.h"
#include "demo/run/status.h"

#include <stdio.h>
#include <string.h>

/* Shorter names for long ones. */
static const struct {
    const char *name, *stands_for;
} short_names[] = {
    {"config", "config-file"},
    {"keys", "attribute-keys"},
    {"storage", "thread-storage"},
};

static struct otelctx_span without(struct otelctx_span text,
                                   struct otelctx_span prefix)
{
    if (otelctx_span_begins(text, prefix))
        text = (struct otelctx_span){text.at + prefix.size,
                                     text.size - prefix.size};
    return text;
}

const char *otelrun_option_name(enum otelctx_option_id id)
{
    struct otelctx_span name = otelctx_span_from(otelctx_option_name(id));
    char *out;

    switch (id) {
    case OTELCTX_OPTION_TRACEPARENT:
    case OTELCTX_OPTION_INSTANCE_ID:
    case OTELCTX_OPTION_EXPORTED_ID:
        return NULL;
    case OTELCTX_OPTION_TRACEPARENT_FOR:
        return "traceparent-for";
    default:
        break;
    }
    name = without(name, OTELCTX_SPAN("OTELCTX_"));
    name = without(name, OTELCTX_SPAN("OTEL_"));
    out = otelrun_format("%.*s", (int)name.size, name.at);
    for (char *at = out; *at != '\0'; at++)
        *at = *at == '_' ? '-' : (char)(*at | 0x20);
    return out;
}

static bool equals(struct otelctx_span word, const char *name)
{
    return name && otelctx_span_equal(word, otelctx_span_from(name));
}

static enum otelctx_option_id find_row(struct otelctx_span word)
{
    unsigned id = 0;

    for (size_t i = 0; i < sizeof(short_names) / sizeof(short_names[0]); i++)
        if (equals(word, short_names[i].name))
            word = otelctx_span_from(short_names[i].stands_for);
    while (id < OTELCTX_OPTION_COUNT && !equals(word, otelrun_option_name(id)))
        id++;
    return id;
}

static const struct otelrun_own_option *find_own(struct otelctx_span word)
{
    const struct otelrun_own_option *option = otelrun_own_options;

    while (option->name && !equals(word, option->name))
        option++;
    return option->name ? option : NULL;
}

static int complain_usage(const char *word, const char *problem)
{
    char text[256];

    otelbase_escape_copy(text, sizeof(text), word, strlen(word));
    (void)fprintf(stderr,
                  "otelctx-run: %s: %s\n"
                  "otelctx-run: --help shows how it is used\n",
                  text, problem);
    return OTELRUN_FAILURE;
}

static int expected(const char *word, const char *why)
{
    return complain_usage(word, otelrun_format("expected %s", why));
}

static const char *apply_row(const struct otelrun_target *to,
                             enum otelctx_option_id id, const char *value)
{
    struct otelctx_fault fault;

    if (otelctx_check_value(id, otelctx_span_from(value), &fault) != 0)
        return otelrun_format("%s at byte %zu", fault.why, fault.pos);
    otelrun_environment_set(to->e, otelctx_option_name(id), value);
    return NULL;
}

static const char *apply_own(const struct otelrun_target *to,
                             const struct otelrun_own_option *option,
                             const char *value)
{
    char *const options = (char *)to->options;

    if (option->flag > 0)
        *(bool *)(options + option->flag - 1) = true;
    if (option->text > 0)
        memcpy(options + option->text - 1, &value, sizeof(value));
    return option->take ? option->take(to, value) : NULL;
}

/* One option: *argv is its word, and left at the last word that it takes. */
static int take(const struct otelrun_target *to, char ***argv)
{
    const char *const word = **argv;
    struct otelctx_span rest = otelctx_span_from(word + 2);
    const struct otelctx_span name = otelctx_span_cut(&rest, '=');
    const char *value = strchr(word, '=') ? rest.at : NULL;
    const struct otelrun_own_option *const option = find_own(name);
    const enum otelctx_option_id id = find_row(name);
    const char *why;

    if (!option && id == OTELCTX_OPTION_COUNT)
        return complain_usage(word, "there is no such option");
    if (option && option->argument == OTELRUN_NONE && value)
        return complain_usage(word, "this option takes no value");
    if ((!option || option->argument == OTELRUN_NEEDED) && !value) {
        value = (*argv)[1];
        if (!value)
            return complain_usage(word, "its value is missing");
        ++*argv;
    }
    why = option ? apply_own(to, option, value) : apply_row(to, id, value);
    return why ? expected(word, why) : 0;
}

int otelrun_options_parse(struct otelrun_options *options,
                          struct otelrun_environment *e, char **argv)
{
    const struct otelrun_target to = {options, e};
    int err = 0;

    *options = (struct otelrun_options){.help = false};
    while (*argv && (*argv)[0] == '-' && err == 0) {
        if (strcmp(*argv, "--") == 0) {
            argv++;
            break;
        }
        if (strcmp(*argv, "-h") == 0)
            options->help = true;
        else if (strcmp(*argv, "-V") == 0)
            options->version = true;
        else if (strncmp(*argv, "--", 2) != 0)
            err = complain_usage(*argv, "there is no such option");
        else
            err = take(&to, &argv);
        argv++;
    }
    options->command = argv;
    if (err == 0 && options->sdk_path && options->sdk == 0 && !options->help)
        err = complain_usage("--sdk-path", "it goes with --sdk only");
    return err;
}

/* The words of a text, in lines of at most 78 columns. */
static void print_paragraph(const char *text)
{
    const size_t margin = 8, width = 78;
    size_t column = 0;

    while (*text != '\0') {
        const size_t size = strcspn(text, " ");

        if (column + 1 + size > width || column == 0) {
            printf("%s%*s", column > 0 ? "\n" : "", (int)margin, "");
            column = margin;
        } else {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)size, text);
        column += size;
        text += size;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_row(enum otelctx_option_id id)
{
    const char *const name = otelrun_option_name(id);
    const struct otelctx_span fallback = otelctx_option_fallback(id);

    if (!name)
        return;
    printf("  --%s=%s\n", name,
           otelctx_option_kind(id) < OTELCTX_KIND_UTF8
               ? otelctx_option_expects(id)
               : "TEXT");
    print_paragraph(otelrun_format(
        "%s Sets %s.%s%.*s%s", otelctx_option_help(id), otelctx_option_name(id),
        fallback.size > 0 ? " Default: " : "", (int)fallback.size, fallback.at,
        fallback.size > 0 ? "." : ""));
}

void otelrun_usage_print(void)
{
    const struct otelrun_own_option *own;

    puts(
        "usage: otelctx-run [OPTION...] [--] COMMAND [ARGUMENT...]\n"
        "\n"
        "Executes a command with libotelctx_preload.so loaded into it, so that "
        "it has\nan OpenTelemetry process context (OTEP 4719). Variables that "
        "are set stay, unless\nan option names them.\n");
    for (own = otelrun_own_options; own->name; own++) {
        printf(own->argument == OTELRUN_OPTIONAL ? "  --%s[=%s]\n"
               : own->argument == OTELRUN_NEEDED ? "  --%s=%s\n"
                                                 : "  --%s%s\n",
               own->name, own->shows);
        print_paragraph(own->help);
    }
    puts("\nVariables of the library, see libotelctx_preload(7):\n");
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        print_row(id);
    puts("\nExit status: that of the command; 125 for a wrong option, 126 if "
         "the command\ncannot be executed, 127 if there is none.");
}
