/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/own_options.h"

#include "config/check.h"
#include "config/file.h"
#include "config/options.h"
#include "demo/run/attributes.h"
#include "demo/run/environment.h"
#include "demo/run/memory.h"
#include "demo/run/sdk.h"
#include "demo/run/status.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* A new traceparent with random ids, sampled. Rule: W3C Trace Context,
 * "traceparent Header". */
static const char *traceparent_make(void)
{
    uint64_t ids[3] = {0};

    /* An id of zero is none. */
    while ((ids[0] | ids[1]) == 0 || ids[2] == 0)
        if (getrandom(ids, sizeof(ids), 0) != (ssize_t)sizeof(ids)) {
            perror("otelctx-run: getrandom");
            exit(OTELRUN_FAILURE);
        }
    /* Flags: sampled, and a trace id that is random. */
    return otelrun_format("00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-03",
                          ids[0], ids[1], ids[2]);
}

static const char *take_attribute(const struct otelrun_target *to,
                                  const char *value)
{
    struct otelctx_span rest = otelctx_span_from(value);
    const struct otelctx_span key = otelctx_span_cut(&rest, '=');
    const char *why;

    if (!strchr(value, '='))
        return "key=value";
    why = otelrun_attributes_refuse(key, rest);
    if (!why)
        otelrun_attributes_set(to->e, key, rest);
    return why;
}

/* Lines as those of the configuration file, with keys of attributes. */
static const char *take_attributes_from(const struct otelrun_target *to,
                                        const char *value)
{
    const char *const path = strcmp(value, "-") == 0 ? "/dev/stdin" : value;
    char *const text = otelrun_allocate(OTELCTX_FILE_MAX + 1, 1);
    FILE *const in = strcmp(value, "-") == 0 ? stdin : fopen(path, "re");
    struct otelctx_file file = {.rest = {text, 0}};
    struct otelctx_span key, item;
    struct otelctx_fault fault;
    int got;

    if (!in)
        return "a file that can be read";
    file.rest.size = fread(text, 1, OTELCTX_FILE_MAX + 1, in);
    if (in != stdin)
        (void)fclose(in);
    if (file.rest.size > OTELCTX_FILE_MAX)
        return "at most 65536 bytes";
    while ((got = otelctx_file_next(&file, &key, &item, &fault)) != 0) {
        const char *const why =
            got < 0 ? fault.why : otelrun_attributes_refuse(key, item);

        if (why)
            return otelrun_format("%s in line %u", why, file.line);
        otelrun_attributes_set(to->e, key, item);
    }
    return NULL;
}

static const char *take_entity(const struct otelrun_target *to,
                               const char *value)
{
    const char *const old = otelrun_environment_get(to->e, "OTEL_ENTITIES");
    struct otelctx_fault fault;

    if (otelctx_check_value(OTELCTX_OPTION_ENTITIES, otelctx_span_from(value),
                            &fault) != 0)
        return otelrun_format("%s at byte %zu", fault.why, fault.pos);
    otelrun_environment_set(
        to->e, "OTEL_ENTITIES",
        old && *old != '\0' ? otelrun_format("%s;%s", old, value) : value);
    return NULL;
}

static const char *take_traceparent(const struct otelrun_target *to,
                                    const char *value)
{
    const char *const all = otelctx_option_name(OTELCTX_OPTION_TRACEPARENT_FOR);
    struct otelctx_fault fault;

    if (!value)
        value = traceparent_make();
    else if (otelctx_check_value(OTELCTX_OPTION_TRACEPARENT,
                                 otelctx_span_from(value), &fault))
        return otelrun_format("%s at byte %zu", fault.why, fault.pos);
    otelrun_environment_set(to->e, "TRACEPARENT", value);
    if (!otelrun_environment_get(to->e, all))
        otelrun_environment_set(to->e, all, "all");
    return NULL;
}

/* "generate" and the like, or an id. */
static const char *take_instance_id(const struct otelrun_target *to,
                                    const char *value)
{
    const enum otelctx_option_id id = OTELCTX_OPTION_INSTANCE_ID;
    const struct otelctx_span key = OTELCTX_SPAN("service.instance.id");
    const struct otelctx_span text = otelctx_span_from(value);
    struct otelctx_fault fault;
    const char *why;

    if (otelctx_check_value(id, otelctx_span_from(value), &fault) == 0) {
        otelrun_environment_set(to->e, otelctx_option_name(id), value);
        return NULL;
    }
    why = otelrun_attributes_refuse(key, text);
    if (!why)
        otelrun_attributes_set(to->e, key, text);
    return why;
}

static const char *take_only(const struct otelrun_target *to, const char *value)
{
    (void)value;
    otelrun_environment_set(to->e, "OTELCTX_CHILDREN", "leave");
    return NULL;
}

static const char *take_print(const struct otelrun_target *to,
                              const char *value)
{
    to->options->print = value ? value : "shell";
    return NULL;
}

static const char *take_sdk(const struct otelrun_target *to, const char *value)
{
    return otelrun_sdk_parse(value, &to->options->sdk);
}

static const char *take_sdk_path(const struct otelrun_target *to,
                                 const char *value)
{
    if (*value == '\0')
        return "a directory";
    to->options->sdk_path = value;
    return NULL;
}

#define FLAG(field) .flag = offsetof(struct otelrun_options, field) + 1
#define TEXT(field) .text = offsetof(struct otelrun_options, field) + 1

const struct otelrun_own_option otelrun_own_options[] = {
    {"attr", OTELRUN_NEEDED, "KEY=VALUE",
     "Adds a resource attribute, in place of one with that key. The value is "
     "percent-encoded for you.",
     .take = take_attribute},
    {"attrs-from", OTELRUN_NEEDED, "FILE",
     "Adds the attributes of a file with a line KEY=VALUE each, or of "
     "standard input (-).",
     .take = take_attributes_from},
    {"entity", OTELRUN_NEEDED, "TEXT", "Adds an entity to OTEL_ENTITIES.",
     .take = take_entity},
    {"instance-id", OTELRUN_NEEDED, "off|generate|export|ID",
     "Sets OTELCTX_INSTANCE_ID, or the service.instance.id.",
     .take = take_instance_id},
    {"traceparent", OTELRUN_OPTIONAL, "TEXT",
     "Sets TRACEPARENT, without TEXT to a new random trace, and shows it in "
     "every thread (--traceparent-for=all).",
     .take = take_traceparent},
    {"detect", OTELRUN_NEEDED, "container,host,os,process",
     "Adds what can be seen of these.", TEXT(detect)},
    {"only", OTELRUN_NONE, "",
     "For the command only: what it executes is not preloaded into.",
     .take = take_only},
    {"library", OTELRUN_NEEDED, "FILE",
     "The library, when it is not beside otelctx-run or where the dynamic "
     "linker looks.",
     TEXT(library)},
    {"requests", OTELRUN_NONE, "",
     "Loads libotelctx_requests.so, too: a server without an SDK shows the "
     "request that a thread works for.",
     FLAG(requests)},
    {"sdk", OTELRUN_NEEDED, "python,node,java,all",
     "Loads the bridges to the OpenTelemetry SDKs of these runtimes, so that "
     "threads show the current span.",
     .take = take_sdk},
    {"sdk-path", OTELRUN_NEEDED, "DIRECTORY",
     "Where the bridges are, when they are not in sdk beside otelctx-run or in "
     "../share/otelctx/sdk.",
     .take = take_sdk_path},
    {"strict", OTELRUN_NONE, "",
     "Ends with status 125 where a library or a bridge cannot be loaded. "
     "Without this option the command runs without it.",
     FLAG(strict)},
    {"quiet", OTELRUN_NONE, "", "Does not say why the command runs without it.",
     FLAG(quiet)},
    {"print", OTELRUN_OPTIONAL, "shell|unit|env",
     "Prints the variables that would be set, and runs nothing.",
     .take = take_print},
    {"check", OTELRUN_NONE, "",
     "Says whether the command would have a context, and if not, why, and what "
     "to do.",
     FLAG(check)},
    {"json", OTELRUN_NONE, "", "With --check: as a JSON object.", FLAG(json)},
    {"copy-to", OTELRUN_NEEDED, "DIRECTORY",
     "Copies this program and the library there, for the init container of a "
     "pod.",
     TEXT(copy_to)},
    {"install-everywhere", OTELRUN_NONE, "",
     "Names the library in /etc/ld.so.preload, for every program of this "
     "machine, unless one of twenty, or COMMAND, differs with it.",
     FLAG(install_everywhere)},
    {"remove-everywhere", OTELRUN_NONE, "",
     "Takes the library out of /etc/ld.so.preload.", FLAG(remove_everywhere)},
    {"help", OTELRUN_NONE, "", "Prints this text.", FLAG(help)},
    {"version", OTELRUN_NONE, "", "Prints the version.", FLAG(version)},
    {.name = NULL},
};
