/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/contexts.h"

#include "demo/reader/os/query.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct source {
    int fd;
    bool empty; /* so far */
};

static ssize_t read_source(void *opaque, void *out, size_t size)
{
    struct source *const source = opaque;
    const ssize_t got = read(source->fd, out, size);

    source->empty = source->empty && got <= 0;
    return got < 0 ? -errno : got;
}

static bool is_rejected(const struct otelread_contexts *contexts)
{
    return contexts->count == 1 && !contexts->list[0].established;
}

/* The maps are read in pieces while they change: a line may come twice. */
static bool is_known(const struct otelread_contexts *contexts, uint64_t start)
{
    for (size_t i = 0; i < contexts->count; i++) {
        if (contexts->list[i].mapping.start == start)
            return true;
    }
    return false;
}

/* Step 2: what fails a check is skipped, and version 1 beside version 2. */
static unsigned rank_of(const struct otelread_context *context)
{
    return context->established ? context->header.version : 0;
}

static int append(struct otelread_contexts *contexts,
                  const struct otelread_context *context)
{
    struct otelread_context *const grown =
        realloc(contexts->list, (contexts->count + 1) * sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    contexts->list = grown;
    grown[contexts->count++] = *context;
    return 0;
}

static int context_add(struct otelread_contexts *contexts,
                       const struct otelread_context *context)
{
    const unsigned rank = rank_of(context);

    if (contexts->count > 0 && rank > rank_of(&contexts->list[0]))
        contexts->count = contexts->unread = 0;
    if (contexts->count > 0 &&
        (rank == 0 || rank < rank_of(&contexts->list[0])))
        return 0;
    if (is_known(contexts, context->mapping.start))
        return 0;
    if (contexts->count < OTELREAD_CONTEXTS_MAX)
        return append(contexts, context);
    contexts->unread++;
    return 0;
}

/* One pass over the maps of a process. */
struct scan {
    struct otelread_contexts *contexts;
    struct otelread_target *target;
    int fd; /* of /proc/PID/maps */
};

static int mapping_take(const struct scan *scan,
                        struct otelread_context *context)
{
    const int error = otelread_context_validate(scan->target, context);

    if (error != 0 && error != -EFAULT)
        return error;
    return context_add(scan->contexts, context);
}

static int scan_text(const struct scan *scan)
{
    struct source source = {.fd = scan->fd, .empty = true};
    struct otelread_maps maps = {.read = read_source, .source = &source};
    struct otelread_context context = {.has_header = false};
    int result;

    while ((result = otelread_maps_next(&maps, &context.mapping)) > 0) {
        const int error = mapping_take(scan, &context);

        if (error != 0)
            return error;
    }
    scan->contexts->no_memory = result == 0 && source.empty;
    return result;
}

/* False when the kernel does not answer, or not to all of it. */
static bool scan_queries(const struct scan *scan, int *result)
{
    struct otelread_context context = {.has_header = false};
    uint64_t at = 0;

    if (!otelread_query_suffices())
        return false;
    while ((*result = otelread_query_next(scan->fd, &at, &context.mapping)) >
           0) {
        const int error = mapping_take(scan, &context);

        if (error != 0) {
            *result = error;
            return true;
        }
    }
    return *result == 0;
}

static int scan_maps(const struct scan *scan)
{
    int result;

    scan->contexts->count = 0;
    scan->contexts->unread = 0;
    if (scan_queries(scan, &result))
        return result;
    scan->contexts->count = 0;
    scan->contexts->unread = 0;
    return scan_text(scan);
}

static int scan_process(struct otelread_contexts *contexts,
                        struct otelread_target *target)
{
    const struct scan scan = {contexts, target, otelread_target_maps(target)};

    if (scan.fd < 0)
        return scan.fd;
    const int result = scan_maps(&scan);
    (void)close(scan.fd);
    return result;
}

int otelread_contexts_find(struct otelread_contexts *contexts,
                           struct otelread_target *target,
                           struct otelread_patience patience)
{
    int result;

    do {
        result = scan_process(contexts, target);
    } while (result == 0 && is_rejected(contexts) &&
             otelread_patience_left(&patience));
    return result;
}

bool otelread_contexts_established(const struct otelread_contexts *contexts)
{
    return contexts->count > 0 && contexts->list[0].established;
}

int otelread_contexts_read(struct otelread_contexts *contexts,
                           struct otelread_target *target,
                           struct otelread_patience patience)
{
    for (size_t i = 0; i < contexts->count; i++) {
        const int error =
            otelread_context_read(target, patience, &contexts->list[i]);

        if (error != 0)
            return error;
    }
    return 0;
}

void otelread_contexts_trim(struct otelread_contexts *contexts)
{
    for (size_t i = 0; i < contexts->count; i++)
        otelread_context_free(&contexts->list[i]);
    if (contexts->count == 0) {
        free(contexts->list);
        contexts->list = NULL;
    }
}

void otelread_contexts_free(struct otelread_contexts *contexts)
{
    otelread_contexts_trim(contexts);
    free(contexts->list);
    contexts->list = NULL;
    contexts->count = 0;
    contexts->unread = 0;
}
