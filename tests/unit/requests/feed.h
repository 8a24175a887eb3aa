/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shim/requests/stream.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Two traces, as texts and as what shows() returns. */
#define ONE "00-11111111111111111111111111111111-1111111111111111-01"
#define TWO "00-22222222222222222222222222222222-2222222222222222-01"

enum {
    NONE = 0,
    /* 1 and 2: the first digit of the trace id */
    MIXED = -1,
    NOTHING = -2 /* no request began, no byte belongs to one */
};

/* A server's reads: those bytes are not taken that are no whole head or record
 * yet; they come again with the next ones. In memory without spare bytes, so
 * that ASan sees a read beyond it. */
struct feed {
    struct otelctx_stream stream;
    char left[3 * OTELCTX_HEAD_LIMIT];
    size_t size;
};

static inline int shows(const struct otelctx_stream *stream,
                        const struct otelctx_news *news)
{
    if (news->mixed)
        return MIXED;
    if (!news->began && !news->goes_on)
        return NOTHING;
    return stream->traced ? stream->trace.trace_id[0] >> 4 : NONE;
}

static inline int feed(struct feed *f, struct otelctx_span text)
{
    struct otelctx_news news = {.mixed = false};
    char *exact = malloc(f->size + text.size);
    size_t used;

    memcpy(exact, f->left, f->size);
    memcpy(exact + f->size, text.at, text.size);
    f->size += text.size;
    used = otelctx_stream_take(&f->stream,
                               (struct otelctx_span){exact, f->size}, &news);
    cr_assert_leq(used, f->size);
    f->size -= used;
    memcpy(f->left, exact + used, f->size);
    free(exact);
    return shows(&f->stream, &news);
}

/* In one read, and byte by byte, which ends the same unless it is mixed: then
 * the last request counts. */
static inline void feed_both_ways(struct otelctx_span text, int expected,
                                  bool is_opaque)
{
    static struct feed whole, single;
    int last = NONE;

    memset(&whole, 0, sizeof(whole));
    memset(&single, 0, sizeof(single));
    cr_expect_eq(feed(&whole, text), expected, "%.*s", (int)text.size, text.at);
    for (size_t i = 0; i < text.size; i++) {
        const int now = feed(&single, (struct otelctx_span){text.at + i, 1});

        last = now == NOTHING ? last : now;
    }
    if (expected != MIXED)
        cr_expect_eq(last, expected == NOTHING ? NONE : expected,
                     "byte by byte: %.*s", (int)text.size, text.at);
    cr_expect_eq(whole.stream.protocol == OTELCTX_OPAQUE, is_opaque, "%.*s",
                 (int)text.size, text.at);
    cr_expect_eq(single.stream.protocol, whole.stream.protocol,
                 "byte by byte: %.*s", (int)text.size, text.at);
}

struct feed_case {
    struct otelctx_span text;
    int expected;
    bool is_opaque;
};

#define FEED_CASES(cases)                                                      \
    for (size_t i_ = 0; i_ < sizeof(cases) / sizeof(*(cases)); i_++)           \
    feed_both_ways((cases)[i_].text, (cases)[i_].expected,                     \
                   (cases)[i_].is_opaque)
