/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program under the shim updates its context as fast as it can, and
 * otelctx-read's library, which shares no code with the shim, reads the context
 * from outside as fast as it can. hosts/updater.c says what is written.
 */

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo/reader/report/report.h"

enum {
    UPDATES = 1000000,
    READS = 100000,
    THREADS = 8,
    OWN_UPDATES = 20000
};

/* A host under the shim, with pipes to its standard input and output. */
struct host {
    pid_t pid;
    int in;
    FILE *out;
};

/* A path from a variable that tests/e2e/meson.build sets. */
static const char *from_meson(const char *name)
{
    const char *path = getenv(name);

    return path ? path : "";
}

static struct host start(unsigned updates, unsigned threads)
{
    char text[2][16];
    int in[2], out[2];
    struct host host;

    snprintf(text[0], sizeof(text[0]), "%u", updates);
    snprintf(text[1], sizeof(text[1]), "%u", threads);
    cr_assert_eq(pipe(in), 0);
    cr_assert_eq(pipe(out), 0);
    host = (struct host){fork(), in[1], fdopen(out[0], "r")};
    cr_assert_geq(host.pid, 0);
    if (host.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        setenv("LD_PRELOAD", from_meson("OTELCTX_SHIM"), 1);
        execl(from_meson("OTELCTX_UPDATER"), "updater", text[0], text[1],
              (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    return host;
}

/* The number that the host prints when its updates are done. */
static unsigned long finished(const struct host *host)
{
    unsigned long number = 0;

    cr_assert_eq(fscanf(host->out, "%lu", &number), 1);
    return number;
}

static void expect_good_end(const struct host *host)
{
    int status;

    cr_assert_eq(waitpid(host->pid, &status, 0), host->pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x",
              status);
}

/* Without retries: a context that is being updated is busy. */
static enum otelread_status read_once(struct otelread_report *report)
{
    otelread_report_update(report, (struct otelread_patience){.tries_max = 1});
    return report->status;
}

/* The first read, as soon as there is a context. */
static struct otelread_report open_report(const struct host *host)
{
    struct otelread_report report = {0};

    do
        otelread_report_make(&report, host->pid, OTELREAD_PATIENCE_LONG);
    while (report.status == OTELREAD_NO_CONTEXT);
    return report;
}

/* The number in an attribute, after checking the filler behind it. */
static unsigned long number_in(struct otelread_span value)
{
    char digits[32] = {0};
    unsigned long number;
    size_t size, fill;

    memcpy(digits, value.bytes, value.size < 31 ? value.size : 31);
    number = strtoul(digits, NULL, 10);
    size = (size_t)snprintf(digits, sizeof(digits), "%lu ", number);
    fill = number % 16 < 15 ? number % 1000 : 6000;
    cr_assert_eq(value.size, size + fill, "update %lu is cut", number);
    for (size_t i = size; i < value.size; i++)
        cr_assert_eq(value.bytes[i], 'x', "update %lu is torn", number);
    return number;
}

/* The number that all n.* of a context carry; 0 before the first update. */
static unsigned long number_of(const struct otelread_context *context)
{
    const struct otelread_node *node = context->decoded.resource.first;
    unsigned long number = 0;
    unsigned found = 0;

    for (; node; node = node->next) {
        if (memcmp(node->key.bytes, "n.", 2) != 0)
            continue;
        if (found++ == 0)
            number = number_in(node->span);
        cr_assert_eq(number_in(node->span), number, "two updates in one");
    }
    cr_assert(found == 0 || found == 4, "%u of 4 attributes", found);
    return number;
}

Test(stress, a_million_updates_are_never_read_torn, .timeout = 1200)
{
    const struct host host = start(UPDATES, 1);
    struct otelread_report report = open_report(&host);
    unsigned long last = 0, reads = 0, retries = 0, moved = 0;
    uint64_t last_ns = 0;

    /* On one busy processor many reads are of one update. */
    while (reads < READS || retries == 0 || moved < READS / 100) {
        const struct otelread_context *context = report.contexts.list;
        unsigned long number;

        if (read_once(&report) == OTELREAD_BUSY) {
            retries++;
            continue;
        }
        cr_assert_eq(report.status, OTELREAD_OK, "%s", report.message);
        number = number_of(context);
        if (context->header.published_at_ns == last_ns) {
            cr_assert_eq(number, last, "one timestamp, two updates");
        } else {
            cr_assert_gt(context->header.published_at_ns, last_ns);
            cr_assert(number > last || last == 0, "%lu after %lu", number,
                      last);
            moved++;
        }
        last = number;
        last_ns = context->header.published_at_ns;
        reads++;
    }
    close(host.in);

    cr_expect_geq(finished(&host), UPDATES);
    expect_good_end(&host);
    otelread_report_free(&report);
}

/* The number of each thread; a later timestamp has no smaller number. */
static void follow(const struct otelread_context *context,
                   unsigned long numbers[THREADS])
{
    const struct otelread_node *node = context->decoded.resource.first;

    for (; node; node = node->next) {
        char digits[16] = {0};
        unsigned long number;
        unsigned thread;

        if (memcmp(node->key.bytes, "t.", 2) != 0)
            continue;
        memcpy(digits, node->span.bytes, node->span.size);
        thread = (unsigned)(node->key.bytes[2] - '0');
        number = strtoul(digits, NULL, 10);
        cr_assert_geq(number, numbers[thread], "thread %u went back", thread);
        numbers[thread] = number;
    }
}

Test(stress, of_updates_by_eight_threads_the_last_remains, .timeout = 1200)
{
    const struct host host = start(OWN_UPDATES, THREADS);
    struct otelread_report report = open_report(&host);
    unsigned long numbers[THREADS] = {0};
    uint64_t last_ns = 0;

    for (int i = 0; i < READS / 4; i++) {
        if (read_once(&report) == OTELREAD_BUSY)
            continue;
        cr_assert_eq(report.status, OTELREAD_OK, "%s", report.message);
        cr_assert_geq(report.contexts.list->header.published_at_ns, last_ns);
        last_ns = report.contexts.list->header.published_at_ns;
        follow(report.contexts.list, numbers);
    }

    cr_expect_eq(finished(&host), OWN_UPDATES);
    cr_assert_eq(read_once(&report), OTELREAD_OK);
    follow(report.contexts.list, numbers);
    for (int i = 0; i < THREADS; i++)
        cr_expect_eq(numbers[i], OWN_UPDATES, "thread %d: %lu", i, numbers[i]);
    close(host.in);
    expect_good_end(&host);
    otelread_report_free(&report);
}
