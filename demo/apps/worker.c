/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Three threads serve a request each, and each says so to readers outside.
 *
 *     cc -D_GNU_SOURCE -I../../shim worker.c -o worker -pthread -ldl
 *     LD_PRELOAD=libotelctx_preload.so ./worker hold
 *     otelctx-read --threads PID                      (in another terminal)
 *
 * The idiom: a span has a record. It is swapped in when the span starts, and
 * what was there before is swapped back when it ends; so spans nest. When
 * another SDK of the program is in the way, the span is not shown, and changes
 * nothing. When one comes in between and is there at the end, it may show the
 * record again: then that stays, for good, which is why it is not on the stack.
 *
 * What C cannot do: end a span by itself. A way out of the scope that misses
 * span_end() (an early return, longjmp, pthread_exit) leaves the thread in the
 * span. And a span stays with its thread: hand
 * work to another one, and that has to start a span of its own.
 */

#include <otelctx.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORKERS = 3
};

struct span {
    struct otelctx_record *record; /* readers look at it, so it stays put */
    struct otelctx_record *outer;
    bool shown;
};

static void span_make(struct span *span, const uint8_t trace_id[16],
                      const uint8_t span_id[8])
{
    *span = (struct span){.record = malloc(sizeof(*span->record))};
    (void)otelctx_record_init(span->record, trace_id, span_id, 1);
}

/* Before it starts. */
static void span_attr(struct span *span, int key, const char *value)
{
    if (key >= 0) /* else there is no shim, or no room for the key */
        (void)otelctx_record_attr(span->record, (uint8_t)key, value,
                                  strlen(value));
}

static void span_start(struct span *span)
{
    span->shown = span->record && otelctx_swap(span->record, &span->outer) == 0;
}

static void span_end(struct span *span)
{
    if (!span->shown || otelctx_swap(span->outer, NULL) == 0)
        free(span->record);
}

static struct {
    int route, user, operation;
} keys;

struct worker {
    pthread_t thread;
    char name[16], user[16];
    uint8_t trace_id[16], request_id[8], query_id[8]; /* of its spans */
    int number, rows;
};

static pthread_barrier_t step;
static int hold;

/* With `hold`: waits here for the others, and then for main to go on. */
static void look_here(void)
{
    if (hold) {
        pthread_barrier_wait(&step);
        pthread_barrier_wait(&step);
    }
}

static int query(const struct worker *worker)
{
    struct span span;

    span_make(&span, worker->trace_id, worker->query_id);
    span_attr(&span, keys.operation, "SELECT");
    span_start(&span);
    look_here();
    span_end(&span);
    return 10 * worker->number;
}

static void *serve(void *argument)
{
    struct worker *worker = argument;
    struct span span;

    pthread_setname_np(pthread_self(), worker->name);
    span_make(&span, worker->trace_id, worker->request_id);
    span_attr(&span, keys.route, "/cart");
    span_attr(&span, keys.user, worker->user);
    span_start(&span);
    worker->rows = query(worker);
    look_here(); /* the request's own context is back */
    span_end(&span);
    look_here();
    return NULL;
}

/* A tracer makes up ids; by these one sees who is who. */
static void prepare(struct worker *worker, int number)
{
    const uint8_t id = (uint8_t)number;

    worker->number = number;
    snprintf(worker->name, sizeof(worker->name), "worker-%d", number);
    snprintf(worker->user, sizeof(worker->user), "user-%d", number);
    memset(worker->trace_id, id, sizeof(worker->trace_id));
    memset(worker->request_id, 0x10 + id, sizeof(worker->request_id));
    memset(worker->query_id, 0x20 + id, sizeof(worker->query_id));
}

int main(int argc, char **argv)
{
    static const char *const steps[] = {"query", "request", "idle"};
    static struct worker workers[WORKERS];

    keys.route = otelctx_key("http.route");
    keys.user = otelctx_key("user.id");
    keys.operation = otelctx_key("db.operation.name");

    hold = argc > 1 && strcmp(argv[1], "hold") == 0;
    pthread_barrier_init(&step, NULL, WORKERS + 1);
    for (int i = 0; i < WORKERS; i++) {
        prepare(&workers[i], i + 1);
        if (pthread_create(&workers[i].thread, NULL, serve, &workers[i]))
            return 1;
    }
    for (size_t i = 0; hold && i < sizeof(steps) / sizeof(steps[0]); i++) {
        pthread_barrier_wait(&step);
        puts(steps[i]);
        fflush(stdout);
        while (getchar() >= ' ') /* to the end of the line, or of all */
            ;
        pthread_barrier_wait(&step);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        printf("worker %d: %d rows\n", workers[i].number, workers[i].rows);
    }
    return 0;
}
