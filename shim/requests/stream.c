/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/requests/stream.h"

#include <string.h>

static const struct {
    enum otelctx_match (*begins)(struct otelctx_span text);
    size_t (*take)(struct otelctx_stream *stream, struct otelctx_span text,
                   struct otelctx_news *news);
} protocols[] = {
    [OTELCTX_HTTP] = {otelctx_http_begins, otelctx_http_take},
    [OTELCTX_FASTCGI] = {otelctx_fastcgi_begins, otelctx_fastcgi_take},
    [OTELCTX_POSTGRESQL] = {otelctx_postgresql_begins, otelctx_postgresql_take},
    [OTELCTX_MYSQL] = {otelctx_mysql_begins, otelctx_mysql_take},
};

void otelctx_stream_begin(struct otelctx_stream *stream,
                          const struct otelctx_traceparent *trace,
                          struct otelctx_news *news)
{
    const bool is_traced = trace;

    if (news->began++ &&
        (stream->labels || stream->traced != is_traced ||
         (trace && memcmp(&stream->trace, trace, sizeof(*trace)) != 0)))
        news->mixed = true;
    stream->traced = is_traced;
    if (trace)
        stream->trace = *trace;
}

/* Both versions of the header that a proxy puts before all others, in
 * haproxy's proxy-protocol.txt, "PROXY protocol header". Returns its size, 0
 * (there is none), or -1 (not all of it is there). */
static long proxy_header(struct otelctx_span text)
{
    static const struct otelctx_span first = OTELCTX_SPAN_INIT("PROXY "),
                                     second = OTELCTX_SPAN_INIT(
                                         "\r\n\r\n\0\r\nQUIT\n");
    const struct otelctx_span magic = text.at[0] == 'P' ? first : second;
    const size_t known = text.size < magic.size ? text.size : magic.size;
    const size_t line_limit = 107;

    if (memcmp(text.at, magic.at, known) != 0)
        return 0;
    if (known < magic.size)
        return -1;
    if (magic.at == first.at) {
        const char *end = memchr(
            text.at, '\n', text.size < line_limit ? text.size : line_limit);

        if (!end)
            return text.size < line_limit ? -1 : 0;
        return end - text.at + 1;
    }
    return text.size < 16 ? -1 : 16 + (long)otelctx_big_endian(text.at + 14, 2);
}

/* Which protocol it is. Returns the size of a PROXY header. */
static size_t detect(struct otelctx_stream *stream, struct otelctx_span text)
{
    const long proxy = stream->proxied ? 0 : proxy_header(text);
    bool perhaps = false;

    if (proxy != 0) {
        if (proxy < 0)
            return 0;
        stream->proxied = true;
        return otelctx_stream_skip(stream, text, (uint64_t)proxy);
    }
    for (unsigned i = OTELCTX_HTTP; i < OTELCTX_OPAQUE; i++) {
        const enum otelctx_match match = protocols[i].begins(text);

        if (match == OTELCTX_YES) {
            stream->protocol = (uint8_t)i;
            return 0;
        }
        perhaps |= match == OTELCTX_PERHAPS;
    }
    if (!perhaps)
        stream->protocol = OTELCTX_OPAQUE;
    return 0;
}

static size_t step(struct otelctx_stream *stream, struct otelctx_span text,
                   struct otelctx_news *news)
{
    uint8_t protocol; /* a signal handler may store OTELCTX_OPAQUE */

    if (stream->remaining) {
        news->goes_on = true;
        return otelctx_stream_skip(stream, text, stream->remaining);
    }
    if (stream->protocol == OTELCTX_UNKNOWN) {
        const size_t used = detect(stream, text);

        if (used)
            return used;
    }
    protocol = __atomic_load_n(&stream->protocol, __ATOMIC_RELAXED);
    return protocol == OTELCTX_UNKNOWN || protocol == OTELCTX_OPAQUE
               ? 0
               : protocols[protocol].take(stream, text, news);
}

size_t otelctx_stream_take(struct otelctx_stream *stream,
                           struct otelctx_span text, struct otelctx_news *news)
{
    size_t taken = 0, used = 1;

    while (used && taken < text.size) {
        used = step(stream,
                    (struct otelctx_span){text.at + taken, text.size - taken},
                    news);
        taken += used;
    }
    if (stream->protocol == OTELCTX_OPAQUE)
        return text.size;
    return taken;
}

/* FastCGI: an END_REQUEST record; PostgreSQL: ReadyForQuery. */
bool otelctx_stream_ends(const struct otelctx_stream *stream,
                         struct otelctx_span answer)
{
    const char *end = answer.at + answer.size;

    if (stream->protocol == OTELCTX_FASTCGI && answer.size >= 16)
        return end[-16] == 1 && end[-15] == 3 &&
               otelctx_big_endian(end - 14, 2) == stream->id &&
               otelctx_big_endian(end - 12, 2) == 8;
    if (stream->protocol == OTELCTX_POSTGRESQL && answer.size >= 6)
        return end[-6] == 'Z' && otelctx_big_endian(end - 5, 4) == 5 &&
               (end[-1] == 'I' || end[-1] == 'T' || end[-1] == 'E');
    return false;
}
