/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-play: stages one scenario. See otelctx-play(1). */

#include "demo/kit/near.h"
#include "demo/kit/otelctx_kit.h"

#include <errno.h>
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
    STATUS_USAGE = 2,
    STATUS_NO_SCENARIO = 3,
    STATUS_NOT_STAGED = 77, /* as test harnesses have it */
};

static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

/* 0 once standard output is written. */
static int finish(void)
{
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : STATUS_FAILED;
}

static int usage(FILE *out, int status)
{
    (void)fprintf(out,
                  "Usage: otelctx-play list [--json]\n"
                  "       otelctx-play [--for DURATION] NAME\n"
                  "       otelctx-play --help | --version\n"
                  "\n"
                  "Starts a process that publishes OpenTelemetry contexts, "
                  "right or wrong,\n"
                  "and prints a line of JSON when it is ready: see "
                  "otelctx-play(1).\n"
                  "\n"
                  "  list            the scenarios, with the rule behind each\n"
                  "  --for DURATION  end after that time (10s, 500ms, 2m), "
                  "not with standard input\n"
                  "  --json          with list: an object per scenario\n"
                  "  --help          prints this text\n"
                  "  --version       prints the version\n");
    return status;
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
    return finish();
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
    const struct sigaction action = {.sa_handler = end};
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
    const bool printed = fflush(stdout) == 0;
    if (printed && ms >= 0)
        wait_for_time(ms);
    else if (printed)
        wait_for_input();
    otelctx_kit_stop(&publisher);
    return printed ? 0 : STATUS_FAILED;
}

int main(int argc, char **argv)
{
    long ms = -1;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return usage(stdout, 0), finish();
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return puts("otelctx-play " OTELCTX_VERSION), finish();
    if (argc > 1 && strcmp(argv[1], "list") == 0 &&
        (argc == 2 || (argc == 3 && strcmp(argv[2], "--json") == 0)))
        return list(argc == 3);
    if (argc == 4 && strcmp(argv[1], "--for") == 0) {
        ms = duration_ms(argv[2]);
        if (ms < 0) {
            (void)fprintf(stderr, "otelctx-play: \"%s\" is no duration\n",
                          argv[2]);
            return STATUS_USAGE;
        }
        return play(argv[3], ms);
    }
    if (argc == 2 && argv[1][0] != '-')
        return play(argv[1], ms);
    return usage(stderr, STATUS_USAGE);
}
