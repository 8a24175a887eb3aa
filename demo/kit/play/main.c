/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-play: stages one scenario. See otelctx-play(1). */

#include "demo/base/flush.h"
#include "demo/base/options.h"
#include "demo/kit/near.h"
#include "demo/kit/otelctx_kit.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STATUS_FAILED = 1,
    STATUS_NO_SCENARIO = 3,
    STATUS_NOT_STAGED = 77, /* as test harnesses have it */
};

static volatile sig_atomic_t ended;

static void note_end(int signal)
{
    (void)signal;
    ended = 1;
}

static void list_json(void)
{
    const struct otelctx_kit_scenario *one;

    for (size_t i = 0; (one = otelctx_kit_scenario(i)); i++)
        (void)printf("{\"name\":\"%s\",\"stage\":\"%s\",\"answer\":\"%s\","
                     "\"rule\":\"%s\"}\n",
                     one->name, one->stage, one->answer, one->rule);
}

static int list(bool json)
{
    const struct otelctx_kit_scenario *one;

    if (json)
        list_json();
    for (size_t i = 0; !json && (one = otelctx_kit_scenario(i)); i++)
        (void)printf("%s\n    stage   %s\n    answer  %s\n    rule    %s\n",
                     one->name, one->stage, one->answer, one->rule);
    return otelbase_flush(stdout) == 0 ? 0 : STATUS_FAILED;
}

/* Until standard input ends or a signal comes. */
static void wait_for_input(void)
{
    char bytes[4096];
    ssize_t got = 1;

    while (ended == 0 && (got > 0 || (got < 0 && errno == EINTR)))
        got = read(STDIN_FILENO, bytes, sizeof(bytes));
}

static void wait_for_time(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (ended == 0 && nanosleep(&left, &left) != 0)
        continue;
}

static int play(const char *name, long ms)
{
    struct otelctx_kit_publisher publisher;
    const struct sigaction action = {.sa_handler = note_end};
    const int error = otelctx_kit_start(name, &publisher);

    if (error == -ENOENT && !otelctx_kit_find(name)) {
        otelkit_near_print(stderr, "otelctx-play", name);
        return STATUS_NO_SCENARIO;
    }
    if (error != 0) {
        (void)fprintf(stderr, "otelctx-play: %s is not staged: %s\n", name,
                      publisher.message);
        return STATUS_NOT_STAGED;
    }
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    (void)printf("%s\n", publisher.line);
    const bool printed = otelbase_flush(stdout) == 0;
    if (printed && ms >= 0)
        wait_for_time(ms);
    else if (printed)
        wait_for_input();
    otelctx_kit_stop(&publisher);
    return printed ? 0 : STATUS_FAILED;
}

/* "10s", "500ms" or "2m" as milliseconds, or -1. */
static long duration_ms(const char *text)
{
    static const struct {
        const char *unit;
        long ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60000}};
    char *end_of_number;
    const long number = strtol(text, &end_of_number, 10);

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (end_of_number != text && number >= 0 && number < 1000000 &&
            strcmp(end_of_number, units[i].unit) == 0)
            return number * units[i].ms;
    }
    return -1;
}

struct options {
    long ms; /* -1: until standard input ends */
    bool json, help, version;
};

static const char *take_for(void *result, const char *value)
{
    struct options *const options = result;

    options->ms = duration_ms(value);
    return options->ms < 0 ? "--for: not a time such as 10s, 500ms or 2m:"
                           : NULL;
}

static const struct otelbase_option rows[] = {
    {"for", 0, "DURATION", 0,
     "end after that time (10s, 500ms, 2m), not with\n"
     "standard input",
     take_for},
    {"json", 0, NULL, offsetof(struct options, json),
     "with list: an object per scenario", NULL},
    {"help", 0, NULL, offsetof(struct options, help), "print this text", NULL},
    {"version", 0, NULL, offsetof(struct options, version), "print the version",
     NULL},
};

static const struct otelbase_program program = {
    .name = "otelctx-play",
    .head = "usage: otelctx-play [--for DURATION] NAME\n"
            "       otelctx-play list [--json]\n"
            "\n"
            "Starts a process that publishes OpenTelemetry contexts, right or "
            "wrong,\n"
            "and prints a line of JSON when it is ready: see otelctx-play(1).\n"
            "list shows the scenarios, with the rule behind each.\n",
    .tail = "Exit status: 0 ok, 1 failure, 2 usage, 3 no such scenario,\n"
            "77 it cannot be staged here.",
    .options = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .missing = "an argument is missing behind",
};

int main(int argc, char **argv)
{
    struct options options = {.ms = -1};
    const int wrong = otelbase_options_parse(&program, &options, argc, argv);

    if (wrong != 0)
        return wrong;
    if (options.help)
        return otelbase_options_help(&program);
    if (options.version)
        return otelbase_options_version(&program);
    if (optind != argc - 1)
        return otelbase_options_complain(&program, "one scenario is expected",
                                         NULL);
    if (strcmp(argv[optind], "list") == 0)
        return list(options.json);
    if (options.json)
        return otelbase_options_complain(&program, "--json goes with list only",
                                         NULL);
    return play(argv[optind], options.ms);
}
