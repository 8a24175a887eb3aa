/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-judge: runs a reader against all scenarios. See otelctx-judge(1). */

#include "demo/kit/judge/judge.h"
#include "demo/kit/near.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STATUS_RIGHT = 0,
    STATUS_REFUSED = 1, /* and nothing worse */
    STATUS_USAGE = 2,
    STATUS_NO_SCENARIO = 3,
    STATUS_WRONG = 4,  /* a context that is not there */
    STATUS_CONDUCT = 5 /* a crash, a hang, too much memory, a stop */
};

struct options {
    struct otelkit_trial trial;
    void (*print)(const struct otelkit_trial *trial);
};

/* The options, in the order of --help. */
static const struct row {
    const char *name;
    int letter;           /* for option_take() only: there are no short ones */
    const char *argument; /* what it is called, or "" */
    const char *help;
    const char *expected; /* of the argument, when one is refused */
} rows[] = {
    {"adapter", 'a', "FILE",
     "a jq filter that makes the reader's output the answer", NULL},
    {"only", 'o', "PATTERN",
     "only scenarios of that name, such as 'payload/*'; repeatable",
     "at most 64 patterns"},
    {"timeout", 't', "MS", "the most that one run may take (10000)",
     "a number of milliseconds, 1 or more"},
    {"memory", 'm', "MIB", "the most that it may have resident (512)",
     "a number of MiB, 1 or more"},
    {"jobs", 'j', "N", "how many run at one time (one per processor)",
     "a number from 1 to 1024"},
    {"json", 'J', "", "an object per scenario", NULL},
    {"junit", 'X', "", "JUnit's XML", NULL},
    {"help", 'h', "", "prints this text", NULL},
    {"version", 'V', "", "prints the version", NULL},
};

enum {
    ROW_COUNT = sizeof(rows) / sizeof(rows[0])
};

static int usage(FILE *out, int status)
{
    (void)fputs(
        "Usage: otelctx-judge [OPTION]... -- READER [ARGUMENT]...\n"
        "\n"
        "Runs a reader of OpenTelemetry contexts against every scenario of\n"
        "otelctx-play; {} in an argument stands for the process to read, and\n"
        "{name} for the scenario.\n"
        "\n",
        out);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const int size =
            fprintf(out, "  --%s %s", rows[i].name, rows[i].argument);

        (void)fprintf(out, "%*s%s\n", 20 - size, "", rows[i].help);
    }
    return status;
}

/* 0 once standard output is written. */
static int finish(void)
{
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : STATUS_REFUSED;
}

/* getopt_long(3) has told of an unknown option. */
static int refuse(int option, const char *value)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].letter == option)
            (void)fprintf(stderr, "otelctx-judge: --%s %s: expected %s\n",
                          rows[i].name, value, rows[i].expected);
    return usage(stderr, STATUS_USAGE);
}

static bool number_take(const char *text, long *out)
{
    char *end;

    *out = strtol(text, &end, 10);
    return end != text && *end == '\0' && *out > 0 && *out < 1000000000;
}

static bool option_take(struct options *options, int option, char *value)
{
    struct otelkit_trial *const trial = &options->trial;
    static char *patterns[64];

    trial->patterns = patterns;
    switch (option) {
    case 'a':
        trial->reader.adapter = value;
        return true;
    case 'o':
        if (trial->pattern_count == sizeof(patterns) / sizeof(patterns[0]))
            return false;
        patterns[trial->pattern_count++] = value;
        return true;
    case 't':
        return number_take(value, &trial->reader.limit_ms);
    case 'm':
        if (!number_take(value, &trial->reader.memory_kib))
            return false;
        trial->reader.memory_kib *= 1024;
        return true;
    case 'j':
        return number_take(value, &trial->jobs) && trial->jobs <= 1024;
    case 'J':
        options->print = otelkit_json_print;
        return true;
    case 'X':
        options->print = otelkit_junit_print;
        return true;
    default:
        return false;
    }
}

static int options_take(struct options *options, int argc, char **argv)
{
    struct option names[ROW_COUNT + 1] = {{NULL, 0, NULL, 0}};
    int option;

    for (size_t i = 0; i < ROW_COUNT; i++)
        names[i] = (struct option){
            rows[i].name, *rows[i].argument ? required_argument : no_argument,
            NULL, rows[i].letter};
    while ((option = getopt_long(argc, argv, "+", names, NULL)) != -1) {
        if (option == 'h')
            exit((usage(stdout, 0), finish()));
        if (option == 'V')
            exit((puts("otelctx-judge " OTELCTX_VERSION), finish()));
        if (!option_take(options, option, optarg))
            return refuse(option, optarg);
    }
    options->trial.reader.command = argv + optind;
    return optind < argc ? 0 : usage(stderr, STATUS_USAGE);
}

/* The worst that happened decides. */
static int status_of(const struct otelkit_trial *trial)
{
    if (otelkit_trial_count(trial, OTELKIT_WRONG) > 0)
        return STATUS_WRONG;
    for (int verdict = OTELKIT_STOPPED; verdict < OTELKIT_WRONG; verdict++) {
        if (otelkit_trial_count(trial, (enum otelkit_verdict)verdict) > 0)
            return STATUS_CONDUCT;
    }
    return otelkit_trial_count(trial, OTELKIT_REFUSED) +
                       otelkit_trial_count(trial, OTELKIT_UNCLEAR) >
                   0
               ? STATUS_REFUSED
               : STATUS_RIGHT;
}

int main(int argc, char **argv)
{
    struct options options = {
        .trial = {.reader = {.limit_ms = 10000, .memory_kib = 512 * 1024L},
                  .jobs = sysconf(_SC_NPROCESSORS_ONLN)},
        .print = otelkit_table_print};
    const int wrong = options_take(&options, argc, argv);

    if (wrong != 0)
        return wrong;
    const int error = otelkit_trial_run(&options.trial);
    if (error != 0) {
        (void)fprintf(stderr, "otelctx-judge: %s\n", strerror(-error));
        return STATUS_USAGE;
    }
    if (options.trial.count == 0) {
        otelkit_near_print(stderr, "otelctx-judge", options.trial.patterns[0]);
        return STATUS_NO_SCENARIO;
    }
    options.print(&options.trial);
    if (fflush(stdout) != 0 || ferror(stdout))
        return STATUS_USAGE;
    return status_of(&options.trial);
}
