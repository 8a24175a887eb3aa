/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/options.h"

#include "demo/reader/escape.h"
#include "demo/reader/processes.h"
#include "demo/reader/status.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char otelread_usage[] =
    "usage: otelctx-read [--json] [--raw] [--watch] PID...|--all\n"
    "       otelctx-read [--json] --threads [--no-stop] PID...|--all\n"
    "\n"
    "Shows the OpenTelemetry process context (OTEP 4719) of other processes,\n"
    "and what each of their threads works for (OTEP 4947).\n"
    "\n"
    "  --all      of every process that may be read\n"
    "  --json     one JSON object a process, on one line\n"
    "  --raw      every byte of header and payload, annotated\n"
    "  --watch    go on, and show each change\n"
    "  --threads  also the contexts of threads, each stopped for a moment\n"
    "  --no-stop  read threads while they run: what they do may come between\n"
    "  --help     show this text\n"
    "  --version  show the version\n"
    "\n"
    "Exit status: 0 ok, 1 other failure, 2 usage, 3 no such process,\n"
    "4 no permission, 5 no context, 6 several contexts, 7 invalid context,\n"
    "8 busy (being written); of several processes, the first that is not 0.\n";

enum {
    OPTION_ALL = 1,
    OPTION_JSON,
    OPTION_RAW,
    OPTION_WATCH,
    OPTION_THREADS,
    OPTION_NO_STOP,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option table[] = {
    {"all", no_argument, NULL, OPTION_ALL},
    {"json", no_argument, NULL, OPTION_JSON},
    {"raw", no_argument, NULL, OPTION_RAW},
    {"watch", no_argument, NULL, OPTION_WATCH},
    {"threads", no_argument, NULL, OPTION_THREADS},
    {"no-stop", no_argument, NULL, OPTION_NO_STOP},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static int complain(const char *what, const char *argument)
{
    char text[128];

    otelread_escape_copy(text, sizeof(text), argument, strlen(argument));
    (void)fprintf(stderr,
                  "otelctx-read: %s%s%s%s\n"
                  "otelctx-read: --help shows how it is used\n",
                  what, text[0] != '\0' ? " \"" : "", text,
                  text[0] != '\0' ? "\"" : "");
    return OTELREAD_USAGE;
}

/* getopt leaves the letter of a short option, whatever word it is in. */
static int complain_option(const char *word)
{
    const char letter[] = {'-', (char)optopt, '\0'};

    return complain("cannot understand option",
                    optopt > OPTION_VERSION ? letter : word);
}

static bool flag_set(struct otelread_options *options, int option)
{
    switch (option) {
    case OPTION_ALL:
        options->all = true;
        return true;
    case OPTION_JSON:
        options->json = true;
        return true;
    case OPTION_RAW:
        options->raw = true;
        return true;
    case OPTION_WATCH:
        options->watch = true;
        return true;
    case OPTION_THREADS:
        options->threads = true;
        return true;
    case OPTION_NO_STOP:
        options->no_stop = true;
        return true;
    case OPTION_HELP:
        options->help = true;
        return true;
    case OPTION_VERSION:
        options->version = true;
        return true;
    default:
        return false;
    }
}

static int pids_parse(struct otelread_options *options, int count, char **words)
{
    if (count == 0)
        return 0;
    options->pids = calloc((size_t)count, sizeof(*options->pids));
    if (options->pids == NULL) {
        (void)fputs("otelctx-read: out of memory\n", stderr);
        return OTELREAD_ERROR;
    }
    for (int i = 0; i < count; i++) {
        const pid_t pid = otelread_pid_parse(words[i]);

        if (pid == 0)
            return complain("not a process number:", words[i]);
        options->pids[options->count++] = pid;
    }
    return 0;
}

static int check(const struct otelread_options *options)
{
    if (options->help || options->version)
        return 0;
    if (options->json && options->raw)
        return complain("--json and --raw exclude each other", "");
    if (options->threads && (options->raw || options->watch))
        return complain(options->raw ? "--threads goes without --raw"
                                     : "--threads goes without --watch",
                        "");
    if (options->no_stop && !options->threads)
        return complain("--no-stop goes with --threads only", "");
    if (options->all && options->count > 0)
        return complain("--all goes without process numbers", "");
    if (!options->all && options->count == 0)
        return complain("a process number is missing", "");
    return 0;
}

int otelread_options_parse(struct otelread_options *options, int argc,
                           char **argv)
{
    int option;

    *options = (struct otelread_options){.count = 0};
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (!flag_set(options, option))
            return complain_option(argv[optind - 1]);
    }

    const int status = pids_parse(options, argc - optind, argv + optind);
    return status != 0 ? status : check(options);
}
