/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/options.h"

#include "demo/base/options.h"
#include "demo/reader/os/processes.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ------------------------------------------------------------- */

/* Parses a whole number with a unit. Returns 0 or -EINVAL. */
static int parse_time(const char *text, uint64_t *out)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ms", 1000000},
                 {"s", 1000000000},
                 {"m", 60000000000},
                 {"", 1000000000}};
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return -EINVAL;
    errno = 0;
    const uint64_t number = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].name) == 0 && errno == 0 && number > 0 &&
            number <= INT64_MAX / units[i].ns) {
            *out = number * units[i].ns;
            return 0;
        }
    }
    return -EINVAL;
}

static const char default_rows[] = "service,process";
static const char default_stacks[] = "service,http.route,trace,thread,state";

static const char *take_by(void *result, const char *value)
{
    struct oteltop_options *const options = result;

    options->by_text = value;
    switch (oteltop_dimensions_parse(&options->by, value)) {
    case 0:
        return NULL;
    case -E2BIG:
        return "--by: more than 8 names:";
    case -ENOMEM:
        return "--by: out of memory:";
    default:
        return "--by: a name is empty:";
    }
}

static const char *take_hz(void *result, const char *value)
{
    struct oteltop_options *const options = result;
    char *end;
    const unsigned long hz = strtoul(value, &end, 10);

    if (!isdigit((unsigned char)value[0]) || *end != '\0' || hz < 1 ||
        hz > 1000)
        return "--hz: not a number from 1 to 1000:";
    options->hz = (unsigned)hz;
    return NULL;
}

static const char *take_for(void *result, const char *value)
{
    struct oteltop_options *const options = result;

    if (parse_time(value, &options->duration_ns) != 0)
        return "--for: not a time such as 10s, 500ms or 2m:";
    options->once = true;
    return NULL;
}

/* ---- options ------------------------------------------------------------ */

static const struct otelbase_option rows[] = {
#define FIELD(name) offsetof(struct oteltop_options, name)
    {"all", 'a', NULL, FIELD(all), "every process; the default", NULL},
    {"by", 'b', "LIST", 0,
     "rows: service, process, thread, trace, span, state, pod,\n"
     "container, cgroup, or any attribute, as in\n"
     "service,http.route (a tree); the default is\n"
     "service,process",
     take_by},
    {"once", '1', NULL, FIELD(once), "one table, of one second", NULL},
    {"for", 'f', "TIME", 0, "one table, of that long: 10s, 500ms, 2m",
     take_for},
    {"wall", 'w', NULL, FIELD(wall), "threads that sleep, too", NULL},
    {"no-stop", 'n', NULL, FIELD(no_stop),
     "read threads while they run, which is less reliable", NULL},
    {"hz", 0, "N", 0, "looks a second, 1 to 1000; the default is 99", take_hz},
    {"record", 0, "FILE", FIELD(record),
     "write all samples: see otelctx-recording(5)", NULL},
    {"replay", 0, "FILE", FIELD(replay),
     "show a recording instead; - is standard input", NULL},
    {"folded", 0, NULL, FIELD(folded),
     "print stacks for flame graphs, in microseconds", NULL},
    {"pprof", 0, "FILE", FIELD(pprof), "write a profile for pprof", NULL},
    {"otlp-json", 0, "FILE", FIELD(otlp_json), "write an OTLP profile, as JSON",
     NULL},
    {"help", 'h', NULL, FIELD(help), "print this text", NULL},
    {"version", 'V', NULL, FIELD(version), "print the version", NULL},
#undef FIELD
};

const struct otelbase_program oteltop_program = {
    .name = "otelctx-top",
    .head = "usage: otelctx-top [OPTION]... [PID|NAME...|--all]\n"
            "       otelctx-top --replay FILE [OPTION]...\n"
            "\n"
            "Shows what the machine works for: processor time by service, "
            "route, trace,\n"
            "or any attribute that processes and threads publish as "
            "OpenTelemetry contexts.\n",
    .tail = "With a terminal the table is shown again each second; press h for "
            "the keys.\n"
            "Exit status: 0 ok, 1 failure, 2 usage, 3 no such process.",
    .options = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .missing = "an argument is missing behind",
};

static int complain(const char *what, const char *argument)
{
    return otelbase_options_complain(&oteltop_program, what, argument);
}

static int check_words(const struct oteltop_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        const char *const word = options->words[i];

        if (otelread_pid_parse(word) == 0 &&
            strspn(word, "0123456789") == strlen(word))
            return complain("not a process number:", word);
    }
    if (options->all && options->count > 0)
        return complain("--all goes without processes:", options->words[0]);
    if (options->replay && (options->all || options->count > 0))
        return complain("--replay goes without processes:", options->replay);
    if (options->replay && options->record)
        return complain("--replay goes without --record:", options->record);
    return 0;
}

int oteltop_options_parse(struct oteltop_options *options, int argc,
                          char **argv)
{
    int status;

    *options = (struct oteltop_options){.hz = 99};
    status = otelbase_options_parse(&oteltop_program, options, argc, argv);
    options->words = argv + optind;
    options->count = (size_t)(argc - optind);
    if (status == 0 && !options->help && !options->version)
        status = check_words(options);
    if (status == 0 && !options->by_text) {
        options->by_text = options->folded ? default_stacks : default_rows;
        if (oteltop_dimensions_parse(&options->by, options->by_text) != 0)
            status = complain("--by: out of memory:", options->by_text);
    }
    return status;
}
