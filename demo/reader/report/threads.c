/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/threads.h"

#include "demo/reader/os/memory.h"
#include "demo/reader/report/judge.h"
#include "demo/reader/report/leftovers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *otelread_threads_status_name(enum otelread_threads_status status)
{
    static const char *const names[] = {
        [OTELREAD_THREADS_OK] = "ok",
        [OTELREAD_THREADS_NO_CONTEXT] = "no_context",
        [OTELREAD_THREADS_NOT_ANNOUNCED] = "not_announced",
        [OTELREAD_THREADS_OTHER_SCHEMA] = "other_schema",
        [OTELREAD_THREADS_NO_SYMBOL] = "no_symbol",
        [OTELREAD_THREADS_UNSUPPORTED] = "unsupported",
        [OTELREAD_THREADS_NO_PERMISSION] = "no_permission",
        [OTELREAD_THREADS_BUSY] = "busy",
        [OTELREAD_THREADS_ERROR] = "error",
    };

    return names[status];
}

/* ---- step 1: initialization --------------------------------------------- */

/* Step 1.1. Returns whether the threads can be read. */
static bool find_map(struct otelread_threads *threads,
                     const struct otelread_context *context)
{
    char why[256];

    switch (otelread_keymap_read(&context->decoded.extra, &threads->map, why,
                                 sizeof(why))) {
    case 0:
        otelread_judge(threads, OTELREAD_THREADS_OK, "%s", "");
        return true;
    case -ENOENT:
        otelread_judge(threads, OTELREAD_THREADS_NOT_ANNOUNCED, "%s", why);
        return false;
    case -EPROTONOSUPPORT:
        otelread_judge(threads, OTELREAD_THREADS_OTHER_SCHEMA, "%s", why);
        return false;
    default:
        otelread_judge(threads, OTELREAD_THREADS_ERROR, "%s", why);
        return false;
    }
}

/* Step 1.2, of an announced variable. */
static void judge_search(struct otelread_threads *threads)
{
    const int error = threads->search.tls.error;
    const char *const why = threads->search.tls.why;

    threads->has_symbol = error == 0;
    if (error == -ETIMEDOUT)
        otelread_judge(threads, OTELREAD_THREADS_BUSY, "its libraries: %s",
                       OTELREAD_SILENT);
    else if (error == -ENOENT || error == -EAGAIN)
        otelread_judge(threads, OTELREAD_THREADS_NO_SYMBOL, "%s", why);
    else if (error == -ENOTSUP)
        otelread_judge(threads, OTELREAD_THREADS_UNSUPPORTED, "%s", why);
    else if (error == -EPERM || error == -EACCES)
        otelread_judge(threads, OTELREAD_THREADS_NO_PERMISSION, "%s", why);
    else if (error != 0)
        otelread_judge(threads, OTELREAD_THREADS_ERROR, "%s",
                       why[0] != '\0' ? why : strerror(-error));
}

/* ---- what the records mean ---------------------------------------------- */

/*
 * OTEP 4947, "attribute_key_map dictionary semantics": an unknown index may
 * have been added since. The old map stays if the new one cannot be read.
 */
static void refresh(struct otelread_threads *threads,
                    struct otelread_target *target,
                    const struct otelread_context *context)
{
    struct otelread_context fresh = {.mapping = context->mapping};
    struct otelread_keymap map;
    char why[256];

    if (otelread_context_read(target, OTELREAD_PATIENCE_SHORT, &fresh) != 0 ||
        otelread_keymap_read(&fresh.decoded.extra, &map, why, sizeof(why)) !=
            0) {
        otelread_context_free(&fresh);
        return;
    }
    otelread_context_free(&threads->renewed);
    threads->renewed = fresh;
    threads->map = map;
}

/* Returns whether a record has keys that the map lacks. */
static bool interpret_all(struct otelread_threads *threads)
{
    bool unknown = false;

    for (size_t i = 0; i < threads->sample.count; i++)
        unknown = otelread_thread_interpret(&threads->sample.threads[i],
                                            &threads->map) ||
                  unknown;
    return unknown;
}

/*
 * Publishers add a key before they use it, so a map that is read after the last
 * record has all keys. All records are decoded by that one map, because it is
 * printed beside them.
 */
static void interpret(struct otelread_threads *threads,
                      struct otelread_target *target,
                      const struct otelread_context *context)
{
    if (interpret_all(threads)) {
        refresh(threads, target, context);
        (void)interpret_all(threads);
    }
}

/* ---- step 2: sampling --------------------------------------------------- */

/* When no thread could be read for want of permission, say only that. */
static void judge_refusals(struct otelread_threads *threads)
{
    const struct otelread_thread *refused = NULL;

    for (size_t i = threads->sample.count; i-- > 0;) {
        const struct otelread_thread *const thread =
            &threads->sample.threads[i];

        if (thread->status == OTELREAD_THREAD_NO_PERMISSION)
            refused = thread;
        else if (thread->status != OTELREAD_THREAD_ENDED)
            return;
    }
    if (refused)
        otelread_judge(threads, OTELREAD_THREADS_NO_PERMISSION, "%s",
                       refused->message);
}

/* Some threads are silent, others were read: a warning, not a failure. */
static void warn_silent(struct otelread_threads *threads)
{
    for (size_t i = 0; i < threads->sample.count && !threads->silent; i++) {
        const struct otelread_thread *const thread =
            &threads->sample.threads[i];

        threads->silent = thread->status == OTELREAD_THREAD_BUSY;
        if (threads->silent && threads->status == OTELREAD_THREADS_OK)
            otelread_judge(threads, OTELREAD_THREADS_OK, "thread %d: %s",
                           (int)thread->tid, thread->message);
    }
}

static struct otelread_places places_of(struct otelread_threads *threads)
{
    return (struct otelread_places){
        .tls = threads->has_symbol ? &threads->search.tls.symbol : NULL,
        .profiler =
            threads->has_profiler ? &threads->search.profiler.symbol : NULL,
        .ring =
            threads->ring.status == OTELREAD_RING_OK ? &threads->ring : NULL,
        .distance = &threads->distance,
    };
}

static void sample(struct otelread_threads *threads,
                   struct otelread_target *target,
                   const struct otelread_context *context)
{
    const struct otelread_places places = places_of(threads);
    const int error = otelread_sample_take(&threads->sample, target, &places,
                                           threads->manner);

    if (error != 0) {
        otelread_judge(threads, OTELREAD_THREADS_ERROR,
                       "its threads cannot be read: %s", strerror(-error));
        otelread_sample_clear(&threads->sample);
        return;
    }
    if (places.ring)
        (void)otelread_leftovers_find(&threads->ring, target, &threads->sample);
    if (places.tls && context)
        interpret(threads, target, context);
    if (places.tls || places.profiler)
        judge_refusals(threads);
    warn_silent(threads);
    if (threads->status == OTELREAD_THREADS_NO_PERMISSION && !places.ring)
        otelread_sample_clear(&threads->sample);
}

/* ---- around both -------------------------------------------------------- */

static int begin_again(struct otelread_threads *threads,
                       enum otelread_threads_status status, const char *why)
{
    otelread_sample_clear(&threads->sample);
    otelread_judge(threads, status, "%s", why);
    return -EAGAIN;
}

bool otelread_threads_have_storage(const struct otelread_threads *threads)
{
    return threads->has_symbol || threads->has_profiler ||
           threads->ring.status != OTELREAD_RING_NONE;
}

static void clear(struct otelread_threads *threads)
{
    otelread_sample_clear(&threads->sample);
    otelread_context_free(&threads->renewed);
    threads->has_symbol = false;
    threads->has_profiler = false;
    threads->silent = false;
}

int otelread_threads_find(struct otelread_threads *threads,
                          struct otelread_target *target,
                          const struct otelread_context *context)
{
    const struct otelread_search *const search = &threads->search;

    clear(threads);
    otelread_ring_find(&threads->ring, target);
    if (context) {
        const bool announced = find_map(threads, context);

        otelread_search_run(&threads->search, target);
        if (search->tls.error == -ESRCH) /* the process, or target->task */
            return begin_again(threads, OTELREAD_THREADS_NO_CONTEXT,
                               "it has no memory any more");
        if (announced)
            judge_search(threads);
        threads->has_profiler = search->profiler.error == 0;
    }
    return 0;
}

int otelread_threads_read(struct otelread_threads *threads,
                          struct otelread_target *target,
                          const struct otelread_context *context)
{
    const int error = otelread_threads_find(threads, target, context);

    if (error != 0)
        return error;
    if (threads->has_symbol || threads->has_profiler ||
        threads->ring.status == OTELREAD_RING_OK)
        sample(threads, target, context);
    if (otelread_memory_is_gone(target))
        return begin_again(threads, OTELREAD_THREADS_ERROR,
                           "it began another program meanwhile");
    return 0;
}

int otelread_threads_read_some(struct otelread_threads *threads,
                               struct otelread_target *target,
                               const struct otelread_context *context,
                               const pid_t *tids, size_t count)
{
    const struct otelread_places places = places_of(threads);
    int error = 0;

    otelread_sample_clear(&threads->sample);
    for (size_t i = 0; i < count && error == 0; i++)
        error = otelread_sample_add(&threads->sample, tids[i]);
    if (error == 0)
        error = otelread_sample_read(&threads->sample, target, &places,
                                     threads->manner);
    if (error != 0)
        otelread_sample_clear(&threads->sample);
    else if (places.tls && context)
        interpret(threads, target, context);
    return error != 0 ? error : otelread_memory_is_gone(target) ? -EAGAIN : 0;
}

void otelread_threads_free(struct otelread_threads *threads)
{
    if (!threads)
        return;
    otelread_context_free(&threads->renewed);
    otelread_sample_free(&threads->sample);
    free(threads);
}
