/* SPDX-License-Identifier: Apache-2.0 */

/* FastCGI Specification 1.0, "3.3 Records" to "5. Application Record Types". */

#include "shim/requests/stream.h"

enum {
    HEADER_SIZE = 8,
    BEGIN_REQUEST = 1,
    ABORT_REQUEST = 2,
    PARAMS = 4,
    STDIN = 5,
    DATA = 8,
    GET_VALUES = 9
};

/* otelctx_stream.phase */
enum {
    NO_REQUEST,
    IN_PARAMS,
    IN_BODY
};

enum otelctx_match otelctx_fastcgi_begins(struct otelctx_span text)
{
    if (text.at[0] != 1)
        return OTELCTX_NO;
    if (text.size < HEADER_SIZE)
        return OTELCTX_PERHAPS;
    return text.at[1] == BEGIN_REQUEST || text.at[1] == GET_VALUES ? OTELCTX_YES
                                                                   : OTELCTX_NO;
}

/* The length of a name or a value, in one byte or in four. */
static bool take_length(struct otelctx_span *rest, size_t *out)
{
    const unsigned size = rest->size > 0 && rest->at[0] & '\x80' ? 4 : 1;

    if (rest->size < size)
        return false;
    *out = otelctx_big_endian(rest->at, size) & 0x7fffffff;
    rest->at += size;
    rest->size -= size;
    return true;
}

static void take_pair(struct otelctx_stream *stream, struct otelctx_span name,
                      struct otelctx_span value)
{
    struct otelctx_fault fault;

    if (otelctx_span_equal(name, OTELCTX_SPAN("HTTP_TRACEPARENT")))
        stream->traces =
            otelctx_traceparent_parse(value, &stream->trace, &fault) ||
                    stream->traces > 0
                ? 2
                : 1;
    else if (!stream->labels)
        return;
    else if (otelctx_span_equal(name, OTELCTX_SPAN("REQUEST_METHOD")))
        otelctx_labels_set(stream->labels, OTELCTX_METHOD, value);
    else if (otelctx_span_equal(name, OTELCTX_SPAN("REQUEST_URI")))
        otelctx_labels_set_target(stream->labels, value);
}

/* False: the pairs do not end where the record does. */
static bool take_pairs(struct otelctx_stream *stream, struct otelctx_span rest)
{
    size_t name_size, value_size;

    while (rest.size > 0) {
        if (!take_length(&rest, &name_size) ||
            !take_length(&rest, &value_size) || name_size > rest.size ||
            value_size > rest.size - name_size)
            return false;
        take_pair(stream, (struct otelctx_span){rest.at, name_size},
                  (struct otelctx_span){rest.at + name_size, value_size});
        rest.at += name_size + value_size;
        rest.size -= name_size + value_size;
    }
    return true;
}

/* An empty record is the end of the parameters: the head is complete. */
static void take_params(struct otelctx_stream *stream,
                        struct otelctx_span content, struct otelctx_news *news)
{
    if (content.size == 0) {
        const struct otelctx_traceparent trace = stream->trace;

        otelctx_stream_begin(stream, stream->traces == 1 ? &trace : NULL, news);
        stream->phase = IN_BODY;
    } else if (!take_pairs(stream, content)) {
        stream->traces = 2;
    }
}

/* Several requests at a time on one connection are not followed. */
static void take_begin(struct otelctx_stream *stream, uint16_t id,
                       struct otelctx_news *news)
{
    if (stream->phase != NO_REQUEST) {
        stream->protocol = OTELCTX_OPAQUE;
        return;
    }
    news->mixed |= news->began > 0;
    stream->phase = IN_PARAMS;
    stream->id = id;
    otelctx_stream_forget(stream);
    stream->traces = 0;
}

/* A record whose content is in memory if it has to be looked at. */
static void take_record(struct otelctx_stream *stream, uint8_t type,
                        struct otelctx_span content, struct otelctx_news *news)
{
    if (type == PARAMS && stream->phase == IN_PARAMS) {
        take_params(stream, content, news);
    } else if (type == STDIN && stream->phase == IN_BODY) {
        news->goes_on = true;
        if (content.size == 0)
            stream->phase = NO_REQUEST;
    } else if (type == ABORT_REQUEST) {
        stream->phase = NO_REQUEST;
        otelctx_stream_forget(stream);
    } else if (type != DATA && type != GET_VALUES) {
        stream->protocol = OTELCTX_OPAQUE;
    }
}

size_t otelctx_fastcgi_take(struct otelctx_stream *stream,
                            struct otelctx_span text, struct otelctx_news *news)
{
    if (text.size < HEADER_SIZE)
        return 0;

    const uint8_t type = (uint8_t)text.at[1];
    const uint16_t id = (uint16_t)otelctx_big_endian(text.at + 2, 2);
    const size_t content_size = otelctx_big_endian(text.at + 4, 2);
    const size_t size = HEADER_SIZE + content_size + (uint8_t)text.at[6];
    struct otelctx_span content = {text.at + HEADER_SIZE, content_size};

    if (text.at[0] != 1 ||
        (stream->phase != NO_REQUEST && id != 0 && id != stream->id)) {
        stream->protocol = OTELCTX_OPAQUE;
        return 0;
    }
    if (type == PARAMS && size > OTELCTX_HEAD_LIMIT) {
        stream->traces = 2; /* not looked at */
        return otelctx_stream_skip(stream, text, size);
    }
    if (type == PARAMS && text.size < HEADER_SIZE + content_size)
        return 0;
    if (type == BEGIN_REQUEST)
        take_begin(stream, id, news);
    else
        take_record(stream, type, content, news);
    return otelctx_stream_skip(stream, text, size);
}
