/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/watch.h"

#include "demo/reader/command/follow.h"
#include "demo/reader/os/clock.h"
#include "demo/reader/os/processes.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define POLL_NS 100000000U

/* Processes are listed every so many polls. */
#define LIST_POLLS 3

/* One row for each process; with --all sorted by pid. */
struct table {
    struct otelread_follow **rows;
    size_t count;
    size_t room;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static int row_add(struct table *table, pid_t pid, enum otelread_depth depth,
                   bool quiet)
{
    if (table->count == table->room) {
        const size_t room = table->room == 0 ? 64 : 2 * table->room;
        struct otelread_follow **const rows =
            realloc(table->rows, room * sizeof(struct otelread_follow *));

        if (!rows)
            return -ENOMEM;
        table->rows = rows;
        table->room = room;
    }

    struct otelread_follow *const row = calloc(1, sizeof(*row));
    if (!row)
        return -ENOMEM;
    row->pid = pid;
    row->depth = depth;
    row->quiet = quiet;
    table->rows[table->count++] = row;
    return 0;
}

static void row_free(struct otelread_follow *row)
{
    otelread_follow_free(row);
    free(row);
}

static void table_free(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        row_free(table->rows[i]);
    free(table->rows);
}

/* Polls each process. Returns how many have not ended. */
static size_t table_poll(struct table *table, struct otelread_output *output)
{
    size_t alive = 0;

    for (size_t i = 0; i < table->count; i++) {
        struct otelread_follow *const row = table->rows[i];

        if (stopped || output->failed)
            return 0;
        if (!row->ended)
            otelread_follow_poll(row, output);
        alive += row->ended ? 0 : 1;
    }
    return alive;
}

static void table_sweep(struct table *table)
{
    size_t kept = 0;

    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i]->ended)
            row_free(table->rows[i]);
        else
            table->rows[kept++] = table->rows[i];
    }
    table->count = kept;
}

static int row_compare(const void *a, const void *b)
{
    const struct otelread_follow *const left =
        *(const struct otelread_follow *const *)a;
    const struct otelread_follow *const right =
        *(const struct otelread_follow *const *)b;

    return (left->pid > right->pid) - (left->pid < right->pid);
}

/* Adds the processes that are not in the table yet: both are sorted. */
static int table_merge(struct table *table, const pid_t *pids, size_t count,
                       enum otelread_depth depth)
{
    const size_t known = table->count;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        while (at < known && table->rows[at]->pid < pids[i])
            at++;
        if (at < known && table->rows[at]->pid == pids[i])
            continue;
        if (row_add(table, pids[i], depth, true) != 0)
            return -ENOMEM;
    }
    if (table->count > known)
        qsort(table->rows, table->count, sizeof(struct otelread_follow *),
              row_compare);
    return 0;
}

static int table_refresh(struct table *table, enum otelread_depth depth)
{
    pid_t *pids;
    size_t count;
    int error = otelread_processes_list(&pids, &count);

    if (error != 0)
        return error;
    error = table_merge(table, pids, count, depth);
    free(pids);
    return error;
}

static int complain(int error)
{
    (void)fprintf(stderr, "otelctx-read: cannot watch: %s\n", strerror(-error));
    return OTELREAD_ERROR;
}

static int exit_status(const struct table *table)
{
    for (size_t i = 0; i < table->count && !stopped; i++) {
        if (!table->rows[i]->was_ok)
            return (int)table->rows[i]->last;
    }
    return OTELREAD_OK;
}

int otelread_watch(struct otelread_output *output, const pid_t *pids,
                   size_t count, enum otelread_depth depth)
{
    struct table table = {.count = 0};
    int error = 0;

    catch_signals();
    for (size_t i = 0; i < count && error == 0; i++)
        error = row_add(&table, pids[i], depth, false);
    while (error == 0 && table_poll(&table, output) > 0)
        otelread_sleep_ns(POLL_NS);

    const int status = output->failed ? OTELREAD_ERROR
                       : error != 0   ? complain(error)
                                      : exit_status(&table);
    table_free(&table);
    return status;
}

int otelread_watch_all(struct otelread_output *output,
                       enum otelread_depth depth)
{
    struct table table = {.count = 0};
    int error = 0;

    catch_signals();
    for (unsigned turn = 0; !stopped && !output->failed && error == 0; turn++) {
        if (turn % LIST_POLLS == 0)
            error = table_refresh(&table, depth);
        (void)table_poll(&table, output);
        table_sweep(&table);
        if (!stopped)
            otelread_sleep_ns(POLL_NS);
    }
    table_free(&table);
    if (error != 0)
        return complain(error);
    return output->failed ? OTELREAD_ERROR : OTELREAD_OK;
}
