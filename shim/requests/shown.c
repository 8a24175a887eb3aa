/* SPDX-License-Identifier: Apache-2.0 */
#define OTELCTX_LINK
#include "shim/requests/shown.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "shim/base/sys_call.h"
#include "shim/otelctx.h"

/* Null without the shim. */
#pragma weak otelctx_attach
#pragma weak otelctx_attach_with
#pragma weak otelctx_detach
#pragma weak otelctx_get
#pragma weak otelctx_key

#pragma weak getenv

__thread struct otelctx_shown otelctx_shown;

/* ---- Attributes --------------------------------------------------------- */

static struct otelctx_labels *labels; /* by descriptor; NULL: none are wanted */
static int keys[OTELCTX_LABELS];      /* index, + 1; 0: not wanted */

static bool find_keys(struct otelctx_span list)
{
    static const char names[][24] = {"http.request.method", "url.path",
                                     "http.route", "db.operation.name"};
    struct otelctx_span name;
    bool any = false;

    while ((name = otelctx_span_member(&list)).size > 0)
        for (unsigned i = 0; i < OTELCTX_LABELS; i++)
            if (otelctx_span_equal(name, otelctx_span_from(names[i]))) {
                const int key = otelctx_key(names[i]);

                keys[i] = key < 0 ? 0 : key + 1;
                any |= key >= 0;
            }
    return any;
}

__attribute__((constructor)) static void begin(void)
{
    const char *const list =
        getenv && otelctx_key ? getenv("OTELCTX_REQUEST_ATTRIBUTES") : NULL;
    long room;

    if (!list || !find_keys(otelctx_span_from(list)))
        return;
    room = otelctx_syscall(SYS_mmap, 0,
                           (long)(OTELCTX_DESCRIPTORS * sizeof(*labels)),
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room > 0 || room < -4095)
        labels = (struct otelctx_labels *)room;
}

struct otelctx_labels *otelctx_shown_labels(int fd)
{
    return labels ? &labels[fd] : NULL;
}

static size_t fill(struct otelctx_attribute attributes[OTELCTX_LABELS],
                   const struct otelctx_labels *from)
{
    size_t count = 0;

    for (unsigned i = 0; from && i < OTELCTX_LABELS; i++)
        if (keys[i] && from->sizes[i])
            attributes[count++] = (struct otelctx_attribute){
                (uint8_t)(keys[i] - 1), from->sizes[i], from->text[i]};
    return count;
}

/* ---- Contexts ----------------------------------------------------------- */

static bool is_same(const struct otelctx_ids *ids,
                    const struct otelctx_traceparent *trace)
{
    return memcmp(ids->trace_id, trace->trace_id, sizeof(ids->trace_id)) == 0 &&
           memcmp(ids->span_id, trace->span_id, sizeof(ids->span_id)) == 0;
}

/* Is nothing attached but what this library attached? */
static bool is_free(void)
{
    struct otelctx_ids ids;
    const int err = otelctx_get(&ids);

    if (otelctx_shown.shows && (err || !is_same(&ids, &otelctx_shown.trace)))
        otelctx_shown.shows =
            false; /* the program detached it, or has its own */
    return err == -ENOENT || otelctx_shown.shows;
}

void otelctx_hide(void)
{
    if (otelctx_shown.shows && is_free() && otelctx_shown.shows)
        (void)otelctx_detach();
    otelctx_shown.shows = false;
}

/* Asked of the kernel before a connection's first context, because closing can
 * go unnoticed. */
static bool is_stream_socket(int fd)
{
    int type = 0;
    socklen_t size = sizeof(type);

    return otelctx_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type,
                           (long)&size, 0) == 0 &&
           type == SOCK_STREAM;
}

bool otelctx_show(int fd, struct otelctx_stream *stream)
{
    static const struct otelctx_traceparent none;
    const struct otelctx_traceparent *const trace =
        stream->traced ? &stream->trace : &none;
    struct otelctx_attribute attributes[OTELCTX_LABELS];
    const size_t count = fill(attributes, stream->labels);
    struct otelctx_shown *const self = &otelctx_shown;

    if (!stream->traced && count == 0) {
        otelctx_hide();
        return true;
    }
    if (!otelctx_attach || !otelctx_attach_with || !otelctx_detach ||
        !otelctx_get || !is_free())
        return true;
    if (self->shows && self->fd == fd && !stream->labels &&
        memcmp(&self->trace, trace, sizeof(*trace)) == 0)
        return true;
    if (!stream->on_socket && !is_stream_socket(fd)) {
        otelctx_hide();
        return false;
    }
    stream->on_socket = true;
    self->trace = *trace;
    self->fd = fd;
    self->shows = (count ? otelctx_attach_with(trace->trace_id, trace->span_id,
                                               trace->flags, attributes, count)
                         : otelctx_attach(trace->trace_id, trace->span_id,
                                          trace->flags)) >= 0;
    return true;
}

bool otelctx_shown_enter(void)
{
    if (otelctx_shown.busy)
        return false;
    otelctx_shown.busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

void otelctx_shown_leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    otelctx_shown.busy = false;
}

void otelctx_shown_end(void)
{
    if (otelctx_shown.shows && otelctx_shown_enter()) {
        otelctx_hide();
        otelctx_shown_leave();
    }
}
