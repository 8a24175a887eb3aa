/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/locate.h"

#include "demo/reader/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

static bool is_rejected(const struct otelread_report *report)
{
    return report->count == 1 && !report->contexts[0].established;
}

/* The maps are read in pieces while they change: a line may come twice. */
static bool is_known(const struct otelread_report *report, uint64_t start)
{
    for (size_t i = 0; i < report->count; i++) {
        if (report->contexts[i].mapping.start == start)
            return true;
    }
    return false;
}

static void context_add(struct otelread_report *report,
                        const struct otelread_context *context)
{
    if (context->established && is_rejected(report))
        report->count = 0;
    else if (!context->established && report->count > 0)
        return;

    if (is_known(report, context->mapping.start))
        return;
    if (report->count == OTELREAD_CONTEXTS_MAX)
        report->uncounted++;
    else
        report->contexts[report->count++] = *context;
}

static int context_look(struct otelread_report *report,
                        struct otelread_context *context)
{
    const int error = otelread_context_validate(&report->target, context);

    if (error != 0 && error != -EFAULT)
        return error;
    context_add(report, context);
    return 0;
}

static int scan_text(struct otelread_report *report, int fd)
{
    struct source source = {.fd = fd, .empty = true};
    struct otelread_maps maps = {.read = read_source, .source = &source};
    struct otelread_context context = {.has_header = false};
    int result;

    while ((result = otelread_maps_next(&maps, &context.mapping)) > 0) {
        const int error = context_look(report, &context);

        if (error != 0)
            return error;
    }
    report->no_memory = result == 0 && source.empty;
    return result;
}

/* False when the kernel does not answer, or not to all of it. */
static bool scan_queries(struct otelread_report *report, int fd, int *result)
{
    struct otelread_context context = {.has_header = false};
    uint64_t at = 0;

    if (!otelread_query_suffices())
        return false;
    while ((*result = otelread_query_next(fd, &at, &context.mapping)) > 0) {
        const int error = context_look(report, &context);

        if (error != 0) {
            *result = error;
            return true;
        }
    }
    return *result == 0;
}

static int scan_maps(struct otelread_report *report, int fd)
{
    int result;

    if (scan_queries(report, fd, &result))
        return result;
    report->count = 0;
    report->uncounted = 0;
    return scan_text(report, fd);
}

static int scan(struct otelread_report *report)
{
    const int fd = otelread_target_maps(&report->target);

    if (fd < 0)
        return fd;
    report->count = 0;
    report->uncounted = 0;
    const int result = scan_maps(report, fd);
    (void)close(fd);
    return result;
}

int otelread_locate(struct otelread_report *report,
                    struct otelread_patience patience)
{
    int result;

    if (report->contexts == NULL)
        report->contexts =
            calloc(OTELREAD_CONTEXTS_MAX, sizeof(*report->contexts));
    if (report->contexts == NULL)
        return -ENOMEM;
    do {
        result = scan(report);
    } while (result == 0 && is_rejected(report) &&
             otelread_patience_left(&patience));
    return result;
}
