/* SPDX-License-Identifier: Apache-2.0 */

/* PostgreSQL, "Frontend/Backend Protocol", version 3: what a client sends. */

#include "shim/requests/sql.h"
#include "shim/requests/stream.h"

enum {
    STARTUP_SIZE = 8, /* as much of a start-up packet as is looked at */
    STARTUP_LIMIT = 10000,
    HEADER_SIZE = 5,
    MAJOR_VERSION = 3,
    SSL_REQUEST = 80877103,
    GSS_REQUEST = 80877104
};

/* otelctx_stream.phase */
enum {
    STARTING,
    STARTED
};

static bool is_request_for_encryption(struct otelctx_span text)
{
    const uint32_t code = otelctx_big_endian(text.at + 4, 4);

    return otelctx_big_endian(text.at, 4) == STARTUP_SIZE &&
           (code == SSL_REQUEST || code == GSS_REQUEST);
}

enum otelctx_match otelctx_postgresql_begins(struct otelctx_span text)
{
    if (text.at[0] != 0)
        return OTELCTX_NO;
    if (text.size < STARTUP_SIZE)
        return OTELCTX_PERHAPS;

    const uint32_t size = otelctx_big_endian(text.at, 4);

    return is_request_for_encryption(text) ||
                   (size > STARTUP_SIZE && size <= STARTUP_LIMIT &&
                    otelctx_big_endian(text.at + 4, 2) == MAJOR_VERSION)
               ? OTELCTX_YES
               : OTELCTX_NO;
}

/* The server may refuse to encrypt; then the client starts once more. */
static size_t take_startup(struct otelctx_stream *stream,
                           struct otelctx_span text)
{
    const enum otelctx_match match = otelctx_postgresql_begins(text);

    if (match == OTELCTX_PERHAPS)
        return 0;
    if (match == OTELCTX_NO) {
        stream->protocol = OTELCTX_OPAQUE;
        return 0;
    }
    if (!is_request_for_encryption(text))
        stream->phase = STARTED;
    return otelctx_stream_skip(stream, text, otelctx_big_endian(text.at, 4));
}

/* Without a trace and labels: of another statement, prepared before. */
static void begin(struct otelctx_stream *stream,
                  const struct otelctx_traceparent *trace, bool open,
                  struct otelctx_news *news)
{
    otelctx_labels_clear(stream->labels);
    otelctx_stream_begin(stream, trace, news);
    stream->open = open;
}

/* Drivers send BEGIN, without a comment, with the first statement. */
static bool is_begin(const struct otelctx_labels *labels)
{
    static const char word[] = "begin";
    unsigned i = 0;

    while (word[i] && (labels->text[OTELCTX_OPERATION][i] | 0x20) == word[i])
        i++;
    return !word[i] && labels->sizes[OTELCTX_OPERATION] == i;
}

/* Another statement before Sync. False: it counts as a request of its own, or
 * not at all. */
static bool take_next(struct otelctx_stream *stream,
                      const struct otelctx_traceparent *trace,
                      struct otelctx_news *news)
{
    if (stream->traced || (!trace && !stream->labels))
        return false;
    news->mixed |= news->began > (!stream->labels || is_begin(stream->labels));
    news->goes_on = true;
    stream->traced = trace;
    if (trace)
        stream->trace = *trace;
    return true;
}

static void take_statement(struct otelctx_stream *stream, bool prepares,
                           struct otelctx_span statement,
                           struct otelctx_news *news)
{
    struct otelctx_labels labels;
    struct otelctx_traceparent room, *trace = NULL;

    otelctx_labels_clear(&labels);
    if (prepares) /* the name of the prepared statement comes first */
        (void)otelctx_span_cut(&statement, '\0');
    if (otelctx_sql_trace(otelctx_span_cut(&statement, '\0'), &room,
                          stream->labels ? &labels : NULL))
        trace = &room;
    if (!prepares || !stream->open || (trace && stream->traced))
        begin(stream, trace, prepares, news);
    else if (!take_next(stream, trace, news))
        return;
    if (stream->labels)
        *stream->labels = labels;
}

/* False: no client sends that. */
static bool take_message(struct otelctx_stream *stream, char type,
                         struct otelctx_news *news)
{
    switch (type) {
    case 'S': /* Sync */
        news->goes_on |= stream->open;
        stream->open = false;
        return true;
    case 'B': /* Bind, Close, Describe, Execute, a function call */
    case 'C':
    case 'D':
    case 'E':
    case 'F':
        if (!stream->open)
            begin(stream, NULL, type != 'F', news);
        news->goes_on = true;
        return true;
    case 'c': /* COPY's data and its end, Flush */
    case 'd':
    case 'f':
    case 'H':
        news->goes_on = true;
        return true;
    default: /* a password, Terminate */
        return type == 'p' || type == 'X';
    }
}

size_t otelctx_postgresql_take(struct otelctx_stream *stream,
                               struct otelctx_span text,
                               struct otelctx_news *news)
{
    if (stream->phase == STARTING)
        return take_startup(stream, text);
    if (text.size < HEADER_SIZE)
        return 0;

    const char type = text.at[0];
    const uint64_t size = 1 + (uint64_t)otelctx_big_endian(text.at + 1, 4);
    const bool looks = type == 'Q' || type == 'P';

    if (size < HEADER_SIZE || (!looks && !take_message(stream, type, news))) {
        stream->protocol = OTELCTX_OPAQUE;
        return 0;
    }
    if (looks && size > OTELCTX_HEAD_LIMIT) {
        begin(stream, NULL, type == 'P', news);
    } else if (looks) {
        if (text.size < size)
            return 0;
        take_statement(stream, type == 'P',
                       (struct otelctx_span){text.at + HEADER_SIZE,
                                             (size_t)size - HEADER_SIZE},
                       news);
    }
    return otelctx_stream_skip(stream, text, size);
}
