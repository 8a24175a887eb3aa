/* SPDX-License-Identifier: Apache-2.0 */

/*
 * HTTP/1.0 and 1.1: RFC 9112. Stricter than servers are, because a head that a
 * server may read in another way could be taken for another request's: lines
 * end in CR LF, no line is folded, no length is told twice. A connection that
 * does not keep to that is followed no further.
 */

#include "shim/requests/stream.h"

/* otelctx_stream.phase */
enum {
    HEAD,
    CHUNK_SIZE, /* the line before a chunk of a body */
    CHUNK_END,  /* the line end after it */
    TRAILER,    /* lines after the last chunk */
    TUNNEL      /* after CONNECT */
};

/* IANA, "HTTP Method Registry", without PRI and "*". */
static const char methods[] =
    "GET POST HEAD PUT PATCH DELETE OPTIONS CONNECT TRACE QUERY ACL "
    "BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY LABEL LINK LOCK MERGE "
    "MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE "
    "ORDERPATCH PROPFIND PROPPATCH REBIND REPORT SEARCH UNBIND "
    "UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL ";

struct head {
    size_t size; /* with the empty line; 0: it is not all there */
    bool bad, chunked, sized, connects;
    uint64_t length;
    unsigned traces;
    bool traced;
    struct otelctx_traceparent trace;
};

enum otelctx_match otelctx_http_begins(struct otelctx_span text)
{
    struct otelctx_span rest = {methods, sizeof(methods) - 1};
    enum otelctx_match best = OTELCTX_NO;

    while (rest.size > 0) {
        const char *const method = rest.at;
        const size_t size = otelctx_span_cut(&rest, ' ').size + 1;
        const size_t known = text.size < size ? text.size : size;

        if (text.at[0] != method[0] || memcmp(text.at, method, known) != 0)
            continue;
        if (known == size)
            return OTELCTX_YES;
        best = OTELCTX_PERHAPS;
    }
    return best;
}

/* The next line, without its end. `at` is NULL: it is not all there. */
static struct otelctx_span take_line(struct otelctx_span *rest, bool *bad)
{
    const char *end = memchr(rest->at, '\n', rest->size);
    struct otelctx_span line = {NULL, 0};

    if (!end)
        return line;
    line = (struct otelctx_span){rest->at, (size_t)(end - rest->at)};
    rest->at = end + 1;
    rest->size -= line.size + 1;
    if (line.size == 0 || line.at[line.size - 1] != '\r')
        *bad = true;
    else
        line.size--;
    return line;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Is the line this field? Then *value is its value. The name is lower case. */
static bool field(struct otelctx_span line, struct otelctx_span name,
                  struct otelctx_span *value)
{
    if (line.size <= name.size || line.at[name.size] != ':')
        return false;
    for (size_t i = 0; i < name.size; i++)
        if (lower(line.at[i]) != name.at[i])
            return false;
    *value = otelctx_span_trim((struct otelctx_span){
        line.at + name.size + 1, line.size - name.size - 1});
    return true;
}

static void take_length(struct head *head, struct otelctx_span digits)
{
    const size_t digits_limit = 18;

    if (head->sized || digits.size == 0 || digits.size > digits_limit)
        head->bad = true;
    head->sized = true;
    for (size_t i = 0; i < digits.size && !head->bad; i++) {
        if (digits.at[i] < '0' || digits.at[i] > '9')
            head->bad = true;
        head->length = 10 * head->length + (uint64_t)(digits.at[i] - '0');
    }
}

static void take_coding(struct head *head, struct otelctx_span coding)
{
    static const char chunked[] = "chunked";

    if (head->chunked || coding.size != sizeof(chunked) - 1)
        head->bad = true;
    for (size_t i = 0; i < coding.size && !head->bad; i++)
        head->bad = lower(coding.at[i]) != chunked[i];
    head->chunked = true;
}

static void take_field(struct head *head, struct otelctx_span line)
{
    struct otelctx_fault fault;
    struct otelctx_span value;

    switch (lower(line.at[0])) {
    case ' ':
    case '\t': /* a folded line */
        head->bad = true;
        break;
    case 't':
        if (field(line, OTELCTX_SPAN("traceparent"), &value)) {
            head->traced =
                head->traces++ == 0 &&
                otelctx_traceparent_parse(value, &head->trace, &fault) == 0;
            break;
        }
        if (field(line, OTELCTX_SPAN("transfer-encoding"), &value))
            take_coding(head, value);
        break;
    case 'c':
        if (field(line, OTELCTX_SPAN("content-length"), &value))
            take_length(head, value);
        break;
    default:
        break;
    }
}

/* METHOD SP target SP HTTP/1.x */
static void take_request_line(struct head *head, struct otelctx_span line)
{
    static const char version[] = " HTTP/1.";
    const size_t size = sizeof(version); /* with the digit */
    const char *end = line.at + line.size;

    if (line.size < size || memcmp(end - size, version, size - 1) != 0 ||
        (end[-1] != '0' && end[-1] != '1'))
        head->bad = true;
    head->connects = otelctx_span_begins(line, OTELCTX_SPAN("CONNECT "));
}

static void take_head(struct head *head, struct otelctx_span text)
{
    struct otelctx_span rest = text;
    struct otelctx_span line = take_line(&rest, &head->bad);

    if (!line.at || head->bad)
        return;
    take_request_line(head, line);
    while (!head->bad) {
        line = take_line(&rest, &head->bad);
        if (!line.at || head->bad)
            return;
        if (line.size == 0)
            break;
        take_field(head, line);
    }
    head->bad |= head->chunked && head->sized;
    head->size = text.size - rest.size;
}

static void label(struct otelctx_labels *labels, struct otelctx_span line)
{
    const struct otelctx_span method = otelctx_span_cut(&line, ' ');

    otelctx_labels_clear(labels);
    otelctx_labels_set(labels, OTELCTX_METHOD, method);
    otelctx_labels_set_target(labels, otelctx_span_cut(&line, ' '));
}

static size_t take_request(struct otelctx_stream *stream,
                           struct otelctx_span text, struct otelctx_news *news)
{
    struct head head = {.size = 0};

    if (text.at[0] == '\r') { /* an empty line may come first */
        if (text.size < 2)
            return 0;
        if (text.at[1] == '\n')
            return 2;
    }
    if (otelctx_http_begins(text) == OTELCTX_NO)
        head.bad = true;
    else
        take_head(&head, text);
    if (head.bad || head.size > OTELCTX_HEAD_LIMIT) {
        stream->protocol = OTELCTX_OPAQUE;
        return 0;
    }
    if (head.size == 0)
        return 0;
    otelctx_stream_begin(stream, head.traced ? &head.trace : NULL, news);
    if (stream->labels)
        label(stream->labels, text);
    stream->remaining = head.length;
    if (head.chunked)
        stream->phase = CHUNK_SIZE;
    else if (head.connects)
        stream->phase = TUNNEL;
    return head.size;
}

/* chunk-size [ chunk-ext ] CRLF */
static void take_chunk(struct otelctx_stream *stream, struct otelctx_span line)
{
    const size_t digits_limit = 15;
    uint64_t size = 0;
    size_t i = 0;

    for (; i < line.size && i <= digits_limit; i++) {
        const char c = lower(line.at[i]);

        if (c >= '0' && c <= '9')
            size = size << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            size = size << 4 | (uint64_t)(c - 'a' + 10);
        else
            break;
    }
    if (i == 0 || i > digits_limit ||
        (i < line.size && line.at[i] != ';' && line.at[i] != ' ')) {
        stream->protocol = OTELCTX_OPAQUE;
        return;
    }
    stream->remaining = size;
    stream->phase = size ? CHUNK_END : TRAILER;
}

/* The lines around the chunks of a body. */
static size_t take_body_line(struct otelctx_stream *stream,
                             struct otelctx_span text,
                             struct otelctx_news *news)
{
    struct otelctx_span rest = text;
    bool bad = false;
    const struct otelctx_span line = take_line(&rest, &bad);

    news->goes_on = true;
    if (!line.at)
        return 0;
    if (bad || (stream->phase == CHUNK_END && line.size != 0)) {
        stream->protocol = OTELCTX_OPAQUE;
        return 0;
    }
    if (stream->phase == CHUNK_SIZE)
        take_chunk(stream, line);
    else if (stream->phase == CHUNK_END)
        stream->phase = CHUNK_SIZE;
    else if (line.size == 0)
        stream->phase = HEAD;
    return text.size - rest.size;
}

size_t otelctx_http_take(struct otelctx_stream *stream,
                         struct otelctx_span text, struct otelctx_news *news)
{
    switch (stream->phase) {
    case HEAD:
        return take_request(stream, text, news);
    case TUNNEL:
        stream->protocol = OTELCTX_OPAQUE;
        return 0;
    default:
        return take_body_line(stream, text, news);
    }
}
