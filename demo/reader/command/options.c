/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/options.h"

#include "demo/base/options.h"
#include "demo/reader/os/processes.h"

#include <getopt.h>
#include <string.h>

static const char usage_head[] =
    "usage: otelctx-read [--json] [--raw] [--watch] PID|NAME...|--all\n"
    "       otelctx-read [--json] [--watch] --threads [--no-stop] "
    "PID|NAME...|--all\n"
    "       otelctx-read --list [--threads] [PID|NAME...]\n"
    "       otelctx-read [--json] --why PID|NAME...\n"
    "       otelctx-read --check-config FILE\n"
    "\n"
    "Shows the OpenTelemetry process contexts (OTEP 4719) of other processes,\n"
    "and the thread contexts (OTEP 4947) of their threads.\n";

static const char usage_tail[] =
    "Exit status: 0 ok, 1 other failure, 2 usage, 3 no such process,\n"
    "4 no permission, 5 no context, 6 several contexts, 7 invalid context,\n"
    "8 busy (being written, or memory that does not answer). Of several\n"
    "processes, the first that is not 0.";

static const struct otelbase_option rows[] = {
#define FIELD(name) offsetof(struct otelread_options, name)
    {"all", 'a', NULL, FIELD(all),
     "every process that can be read and has a context", NULL},
    {"list", 'l', NULL, FIELD(list),
     "a line for each process: its service, and how many of\n"
     "its threads have a context",
     NULL},
    {"json", 'j', NULL, FIELD(json),
     "one JSON object per process, each on one line", NULL},
    {"raw", 0, NULL, FIELD(raw), "every byte of header and payload, annotated",
     NULL},
    {"watch", 'w', NULL, FIELD(watch), "keep running, and show each change",
     NULL},
    {"threads", 't', NULL, FIELD(threads),
     "also thread contexts; stops each thread for a moment", NULL},
    {"no-stop", 0, NULL, FIELD(no_stop),
     "read threads while they run, which is less reliable", NULL},
    {"why", 0, NULL, FIELD(why),
     "what stands between a process and its context, and what\n"
     "to do",
     NULL},
    {"check-config", 0, "FILE", FIELD(check_config),
     "check a configuration file of libotelctx_preload", NULL},
    {"help", 'h', NULL, FIELD(help), "print this text", NULL},
    {"version", 'V', NULL, FIELD(version), "print the version", NULL},
#undef FIELD
};

const struct otelbase_program otelread_program = {
    .name = "otelctx-read",
    .head = usage_head,
    .tail = usage_tail,
    .options = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .missing = "a file is missing behind",
};

static int complain(const char *what, const char *argument)
{
    return otelbase_options_complain(&otelread_program, what, argument);
}

/* Digits only are a number of a process, anything else is its name. */
static int check_words(const struct otelread_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        const char *const word = options->words[i];

        if (otelread_pid_parse(word) == 0 &&
            strspn(word, "0123456789") == strlen(word))
            return complain("not a process number:", word);
    }
    return 0;
}

static int check(const struct otelread_options *options)
{
    if (options->help || options->version)
        return 0;
    if (options->check_config)
        return options->count == 0 && !options->all
                   ? 0
                   : complain("--check-config goes without processes", NULL);
    if (options->json && options->raw)
        return complain("--json and --raw exclude each other", NULL);
    if (options->list && (options->json || options->raw || options->watch))
        return complain("--list goes without --json, --raw and --watch", NULL);
    if (options->threads && options->raw)
        return complain("--threads goes without --raw", NULL);
    if (options->no_stop && !options->threads)
        return complain("--no-stop goes with --threads only", NULL);
    if (options->why && (options->raw || options->watch || options->all ||
                         options->list || options->threads))
        return complain("--why goes with --json only", NULL);
    if (options->all && options->count > 0)
        return complain("--all goes without processes", NULL);
    if (!options->all && !options->list && options->count == 0)
        return complain("the number or the name of a process is missing", NULL);
    return 0;
}

int otelread_options_parse(struct otelread_options *options, int argc,
                           char **argv)
{
    int status;

    *options = (struct otelread_options){.count = 0};
    status = otelbase_options_parse(&otelread_program, options, argc, argv);
    if (status != 0)
        return status;
    options->words = argv + optind;
    options->count = (size_t)(argc - optind);
    status = check_words(options);
    return status != 0 ? status : check(options);
}
