/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/requests/stream.h"

#include <stdlib.h>

/*
 * Any bytes that a client sends. The first byte says the protocol that the
 * connection has already, or none; the second how long the server's reads are.
 * Read in pieces or as a whole, a stream ends the same, and is never read
 * beyond what came. A trace is one that is in the bytes, or in a statement's
 * comment behind percent signs.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Offers each piece behind what was left; the room has no spare bytes. */
static struct otelctx_stream run(struct otelctx_stream stream,
                                 const uint8_t *data, size_t size, size_t step)
{
    size_t from = 0, to = 0;

    while (to < size && stream.protocol != OTELCTX_OPAQUE) {
        struct otelctx_news news = {.mixed = false};
        const size_t end = size - to < step ? size : to + step;
        char *exact = malloc(end - from);
        size_t used;

        memcpy(exact, data + from, end - from);
        used = otelctx_stream_take(
            &stream, (struct otelctx_span){exact, end - from}, &news);
        require(used <= end - from);
        require(!news.mixed || news.began > (stream.labels ? 0 : 1));
        free(exact);
        from += used;
        to = end;
        if (to - from > OTELCTX_HEAD_LIMIT)
            stream.protocol = OTELCTX_OPAQUE;
    }
    return stream;
}

/* Are the digits of the id in the bytes, perhaps percent-encoded? */
static void check_trace(const struct otelctx_stream *stream,
                        const uint8_t *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * sizeof(stream->trace.trace_id)];

    for (size_t i = 0; i < sizeof(stream->trace.trace_id); i++) {
        text[2 * i] = digits[stream->trace.trace_id[i] >> 4];
        text[2 * i + 1] = digits[stream->trace.trace_id[i] & 15];
    }
    require(memmem(data, size, text, sizeof(text)) || memchr(data, '%', size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct otelctx_labels labels = {.sizes = {0}};
    struct otelctx_stream first = {.remaining = 0}, whole, pieces;

    if (size < 3 || size > OTELCTX_HEAD_LIMIT)
        return 0;
    first.protocol = data[0] % OTELCTX_OPAQUE;
    first.labels = data[1] >= 128 ? &labels : NULL;
    first.phase = first.protocol == OTELCTX_POSTGRESQL ? data[0] / 128 : 0;
    whole = run(first, data + 2, size - 2, size);
    pieces = run(first, data + 2, size - 2, 1 + data[1] % 64);
    require(whole.protocol == pieces.protocol);
    if (whole.protocol != OTELCTX_OPAQUE) {
        require(whole.traced == pieces.traced);
        require(whole.phase == pieces.phase);
        require(whole.remaining == pieces.remaining);
    }
    if (whole.traced && whole.protocol != OTELCTX_OPAQUE) {
        require(memcmp(&whole.trace, &pieces.trace, sizeof(whole.trace)) == 0);
        check_trace(&whole, data + 2, size - 2);
    }
    return 0;
}
