/* SPDX-License-Identifier: Apache-2.0 */

/* MySQL and MariaDB, "Client/Server Protocol": what a client sends. */

#include "shim/requests/sql.h"
#include "shim/requests/stream.h"

enum {
    HEADER_SIZE = 4,
    LOGIN_SIZE = 32, /* the first fields of the answer to the greeting */
    LOGIN_LIMIT = 65535,
    FILLER = 13, /* zeroes from there; MariaDB uses the last four bytes */
    FILLER_SIZE = 19,
    PROTOCOL_41 = 0x200,
    COMPRESS = 0x20,
    COMPRESS_ZSTD = 0x4000000,
    ENCRYPT = 0x800,
    COM_QUERY = 0x03,
    COM_STMT_PREPARE = 0x16
};

/* otelctx_stream.phase */
enum {
    STARTING,
    STARTED
};

static uint32_t little_endian(const char *at, unsigned bytes)
{
    uint32_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | (uint8_t)at[bytes];
    return value;
}

enum otelctx_match otelctx_mysql_begins(struct otelctx_span text)
{
    static const char zeroes[FILLER_SIZE];

    if (text.size >= HEADER_SIZE) {
        const uint32_t size = little_endian(text.at, 3);

        if (text.at[3] != 1 || size < LOGIN_SIZE || size > LOGIN_LIMIT)
            return OTELCTX_NO;
    }
    if (text.size < HEADER_SIZE + LOGIN_SIZE)
        return OTELCTX_PERHAPS;
    return little_endian(text.at + HEADER_SIZE, 4) & PROTOCOL_41 &&
                   memcmp(text.at + FILLER, zeroes, FILLER_SIZE) == 0
               ? OTELCTX_YES
               : OTELCTX_NO;
}

/* What a client compresses or encrypts cannot be read. */
static size_t take_login(struct otelctx_stream *stream,
                         struct otelctx_span text)
{
    uint32_t flags;

    if (text.size < HEADER_SIZE + LOGIN_SIZE)
        return 0;
    flags = little_endian(text.at + HEADER_SIZE, 4);
    if (flags & (COMPRESS | COMPRESS_ZSTD | ENCRYPT)) {
        stream->protocol = OTELCTX_OPAQUE;
        return 0;
    }
    stream->phase = STARTED;
    return otelctx_stream_skip(stream, text,
                               HEADER_SIZE + little_endian(text.at, 3));
}

size_t otelctx_mysql_take(struct otelctx_stream *stream,
                          struct otelctx_span text, struct otelctx_news *news)
{
    struct otelctx_traceparent trace;

    if (stream->phase == STARTING)
        return take_login(stream, text);
    if (text.size < HEADER_SIZE + 1)
        return 0;

    const size_t size = HEADER_SIZE + little_endian(text.at, 3);
    const char command = text.at[HEADER_SIZE];
    const bool traceable =
        (command == COM_QUERY || command == COM_STMT_PREPARE) &&
        size <= OTELCTX_HEAD_LIMIT;

    /* A command is packet 0; others go on with it, or with the login. */
    if (text.at[3] != 0 || size == HEADER_SIZE) {
        news->goes_on = true;
        return otelctx_stream_skip(stream, text, size);
    }
    if (traceable && text.size < size)
        return 0;

    const struct otelctx_span statement = {text.at + HEADER_SIZE + 1,
                                           size - HEADER_SIZE - 1};
    bool traced;

    otelctx_labels_clear(stream->labels);
    traced = traceable && otelctx_sql_trace(statement, &trace, stream->labels);
    otelctx_stream_begin(stream, traced ? &trace : NULL, news);
    return otelctx_stream_skip(stream, text, size);
}
