/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a client sends on one connection, cut into requests. No system call, no
 * memory but the caller's: a parser takes whole heads and records, and leaves
 * the beginning of one to the caller, who offers it again with the bytes that
 * follow.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/span.h"
#include "config/traceparent.h"
#include "shim/requests/labels.h"

/* How much of a head, a record or a statement is looked at, in bytes. */
enum {
    OTELCTX_HEAD_LIMIT = 8192
};

enum otelctx_protocol {
    OTELCTX_UNKNOWN, /* not enough bytes yet */
    OTELCTX_HTTP,
    OTELCTX_FASTCGI,
    OTELCTX_POSTGRESQL,
    OTELCTX_MYSQL,
    OTELCTX_OPAQUE /* no protocol of these, or not any more: for good */
};

/* All zero: a new connection. */
struct otelctx_stream {
    uint8_t protocol;   /* enum otelctx_protocol */
    uint8_t phase;      /* the parser's own */
    bool traced;        /* the latest request has a trace */
    bool proxied;       /* a PROXY header came first */
    bool on_socket;     /* the caller's: the kernel was asked */
    uint16_t id;        /* FastCGI: of the request */
    uint8_t traces;     /* FastCGI: parameters HTTP_TRACEPARENT so far */
    bool open;          /* PostgreSQL: the request waits for its Sync */
    uint64_t remaining; /* bytes to skip before the next head or record */
    struct otelctx_traceparent trace; /* of the latest request, if traced */
    struct otelctx_labels *labels;    /* of it; NULL: not asked for */
};

/* What came with one read. */
struct otelctx_news {
    unsigned began; /* requests; stream->traced: the latest has a trace */
    bool mixed;     /* several, with different traces or with and without */
    bool goes_on;   /* bytes that belong to the latest request */
};

/*
 * Take as much of the text as has whole heads and records. Returns how many
 * bytes that is; the caller keeps the rest. The stream becomes opaque if the
 * text is not the protocol, or if it cannot be followed any further.
 */
size_t otelctx_stream_take(struct otelctx_stream *stream,
                           struct otelctx_span text, struct otelctx_news *news);

/* Forget the latest request. */
static inline void otelctx_stream_forget(struct otelctx_stream *stream)
{
    stream->traced = false;
    otelctx_labels_clear(stream->labels);
}

/* Does what the server sends, in one piece, end the request? */
bool otelctx_stream_ends(const struct otelctx_stream *stream,
                         struct otelctx_span answer);

/* ---- For the parsers ---------------------------------------------------- */

enum otelctx_match {
    OTELCTX_NO,
    OTELCTX_PERHAPS, /* with more bytes */
    OTELCTX_YES
};

/* Does a connection of the protocol begin like this? */
enum otelctx_match otelctx_http_begins(struct otelctx_span text);
enum otelctx_match otelctx_fastcgi_begins(struct otelctx_span text);
enum otelctx_match otelctx_postgresql_begins(struct otelctx_span text);
enum otelctx_match otelctx_mysql_begins(struct otelctx_span text);

/* As otelctx_stream_take(), one step: 0 at the end of what can be taken. */
size_t otelctx_http_take(struct otelctx_stream *stream,
                         struct otelctx_span text, struct otelctx_news *news);
size_t otelctx_fastcgi_take(struct otelctx_stream *stream,
                            struct otelctx_span text,
                            struct otelctx_news *news);
size_t otelctx_postgresql_take(struct otelctx_stream *stream,
                               struct otelctx_span text,
                               struct otelctx_news *news);
size_t otelctx_mysql_take(struct otelctx_stream *stream,
                          struct otelctx_span text, struct otelctx_news *news);

/* A request began: note its trace, NULL if it has none. The caller sets or
 * clears its labels. */
void otelctx_stream_begin(struct otelctx_stream *stream,
                          const struct otelctx_traceparent *trace,
                          struct otelctx_news *news);

/* Take a record of `size` bytes: skip those that have not come yet. */
static inline size_t otelctx_stream_skip(struct otelctx_stream *stream,
                                         struct otelctx_span text,
                                         uint64_t size)
{
    const size_t used = size < text.size ? (size_t)size : text.size;

    stream->remaining = size - used;
    return used;
}

static inline uint32_t otelctx_big_endian(const char *at, unsigned bytes)
{
    uint32_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | (uint8_t)*at++;
    return value;
}
