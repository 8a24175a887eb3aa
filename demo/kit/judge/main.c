/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-judge: runs a reader against all scenarios. See otelctx-judge(1). */

#include "demo/base/flush.h"
#include "demo/base/options.h"
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

enum {
    PATTERNS_MAX = 64
};

struct options {
    struct otelkit_trial trial;
    const char *patterns[PATTERNS_MAX];
    bool json, junit, help, version;
};

static bool number_take(const char *text, long *out)
{
    char *end;

    *out = strtol(text, &end, 10);
    return end != text && *end == '\0' && *out > 0 && *out < 1000000000;
}

static const char *take_only(void *result, const char *value)
{
    struct options *const options = result;
    struct otelkit_trial *const trial = &options->trial;

    if (trial->pattern_count == PATTERNS_MAX)
        return "--only: expected at most 64 patterns; one more is";
    options->patterns[trial->pattern_count++] = value;
    return NULL;
}

static const char *take_timeout(void *result, const char *value)
{
    struct options *const options = result;

    return number_take(value, &options->trial.reader.limit_ms)
               ? NULL
               : "--timeout: expected a number of milliseconds, 1 or more, not";
}

static const char *take_memory(void *result, const char *value)
{
    struct options *const options = result;
    long mib;

    if (!number_take(value, &mib))
        return "--memory: expected a number of MiB, 1 or more, not";
    options->trial.reader.memory_kib = mib * 1024;
    return NULL;
}

static const char *take_jobs(void *result, const char *value)
{
    struct options *const options = result;

    return number_take(value, &options->trial.jobs) &&
                   options->trial.jobs <= 1024
               ? NULL
               : "--jobs: expected a number from 1 to 1024, not";
}

static const struct otelbase_option rows[] = {
    {"adapter", 0, "FILE", offsetof(struct options, trial.reader.adapter),
     "a jq filter that makes the reader's output the answer", NULL},
    {"only", 0, "PATTERN", 0,
     "only scenarios of that name, such as 'payload/*';\n"
     "repeatable",
     take_only},
    {"timeout", 0, "MS", 0, "the most that one run may take (10000)",
     take_timeout},
    {"memory", 0, "MIB", 0, "the most that it may have resident (512)",
     take_memory},
    {"jobs", 0, "N", 0, "how many run at one time (one per processor)",
     take_jobs},
    {"json", 0, NULL, offsetof(struct options, json), "an object per scenario",
     NULL},
    {"junit", 0, NULL, offsetof(struct options, junit), "JUnit's XML", NULL},
    {"help", 0, NULL, offsetof(struct options, help), "print this text", NULL},
    {"version", 0, NULL, offsetof(struct options, version), "print the version",
     NULL},
};

static const struct otelbase_program program = {
    .name = "otelctx-judge",
    .head =
        "usage: otelctx-judge [OPTION]... -- READER [ARGUMENT]...\n"
        "\n"
        "Runs a reader of OpenTelemetry contexts against every scenario of\n"
        "otelctx-play; {} in an argument stands for the process to read, and\n"
        "{name} for the scenario.\n",
    .tail = "Exit status: 0 right, 1 refused what is right, 2 usage,\n"
            "3 no such scenario, 4 a context that is not there, 5 a crash,\n"
            "a hang, too much memory or a stop.",
    .options = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .missing = "an argument is missing behind",
    .has_command = true,
};

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

static int judge(struct options *options)
{
    struct otelkit_trial *const trial = &options->trial;
    const int error = otelkit_trial_run(trial);

    if (error != 0) {
        (void)fprintf(stderr, "otelctx-judge: %s\n", strerror(-error));
        return STATUS_USAGE;
    }
    if (trial->count == 0) {
        otelkit_near_print(stderr, "otelctx-judge", trial->patterns[0]);
        return STATUS_NO_SCENARIO;
    }
    if (options->junit)
        otelkit_junit_print(trial);
    else if (options->json)
        otelkit_json_print(trial);
    else
        otelkit_table_print(trial);
    return otelbase_flush(stdout) != 0 ? STATUS_USAGE : status_of(trial);
}

int main(int argc, char **argv)
{
    struct options options = {
        .trial = {.reader = {.limit_ms = 10000, .memory_kib = 512 * 1024L},
                  .jobs = sysconf(_SC_NPROCESSORS_ONLN)}};
    const int wrong = otelbase_options_parse(&program, &options, argc, argv);

    if (wrong != 0)
        return wrong;
    if (options.help)
        return otelbase_options_help(&program);
    if (options.version)
        return otelbase_options_version(&program);
    if (optind == argc)
        return otelbase_options_complain(&program, "a reader is missing", NULL);
    options.trial.patterns = options.patterns;
    options.trial.reader.command = argv + optind;
    return judge(&options);
}
