/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/requests/feed.h"

#define T(text)      OTELCTX_SPAN_INIT(text)
#define GET          "GET / HTTP/1.1\r\n"
#define POST         "POST /a?b HTTP/1.1\r\n"
#define TRACE(trace) "traceparent: " trace "\r\n"
#define END          "\r\n"
#define CHUNKED      "Transfer-Encoding: chunked\r\n"

static const struct feed_case heads[] = {
    {T(GET TRACE(ONE) END), 1, false},
    {T("GET / HTTP/1.0\r\n" TRACE(ONE) END), 1, false},
    {T("VERSION-CONTROL / HTTP/1.1\r\nHost: a\r\n" TRACE(ONE) END), 1, false},
    {T(GET "TRACEparent:\t " ONE " \r\n" END), 1, false},
    {T(GET END), NONE, false},
    {T(GET TRACE(ONE) TRACE(TWO) END), NONE, false},
    {T(GET TRACE(ONE) TRACE(ONE) END), NONE, false},
    {T(GET TRACE("00-x") END), NONE, false},
    {T(GET TRACE("00-x") TRACE(ONE) END), NONE, false},
    {T(GET "tracestate: " ONE "\r\n" END), NONE, false},
    {T(GET "x-traceparent: " ONE "\r\n" END), NONE, false},
    {T(GET "traceparent : " ONE "\r\n" END), NONE, false},
    {T(GET "Cookie: traceparent: " ONE "\r\n" END), NONE, false},
    {T(GET TRACE(ONE)), NOTHING, false},
    {T("GET / HTTP/1.1\r\ntracep"), NOTHING, false},
    /* Not as RFC 9112 has it: a server may read another request. */
    {T("GET / HTTP/1.1\n" TRACE(ONE) END), NOTHING, true},
    {T(GET "traceparent: " ONE "\n" END), NOTHING, true},
    {T(GET "a: b\r\n " TRACE(ONE) END), NOTHING, true},
    {T("GET / HTTP/2.0\r\n" TRACE(ONE) END), NOTHING, true},
    {T("GET /\r\n" TRACE(ONE) END), NOTHING, true},
    {T("get / HTTP/1.1\r\n" TRACE(ONE) END), NOTHING, true},
    {T("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), NOTHING, true},
    {T("FOO / HTTP/1.1\r\n" TRACE(ONE) END), NOTHING, true},
    {T("\x16\x03\x01\x02"), NOTHING, true},
    {T("*1\r\n$4\r\nPING\r\n"), NOTHING, true},
    {T(POST "Content-Length: 1\r\nContent-Length: 1\r\n" TRACE(ONE) END),
     NOTHING, true},
    {T(POST "Content-Length: -1\r\n" TRACE(ONE) END), NOTHING, true},
    {T(POST "Content-Length: 9999999999999999999\r\n" END), NOTHING, true},
    {T(POST "Content-Length: 1\r\n" CHUNKED TRACE(ONE) END), NOTHING, true},
    {T(POST "Transfer-Encoding: gzip, chunked\r\n" TRACE(ONE) END), NOTHING,
     true},
};

static const struct feed_case bodies[] = {
    {T(POST TRACE(ONE) "Content-Length: 5\r\n" END "12345"), 1, false},
    {T(POST TRACE(ONE) "Content-Length: 5\r\n" END "123"), 1, false},
    /* Words of the protocol in a body are no request. */
    {T(POST TRACE(ONE) "Content-Length: 88\r\n" END GET TRACE(TWO) END), 1,
     false},
    {T(POST TRACE(ONE) CHUNKED END "56;a=b\r\n" GET TRACE(TWO) "\r\n0\r\n"
                                                               "A: b\r\n\r\n"),
     1, false},
    {T(POST TRACE(ONE) CHUNKED END "3\r\nGET\r\nA\r\n0123456789\r\n0\r\n\r\n"),
     1, false},
    {T(POST TRACE(ONE) CHUNKED END "0\r\n" TRACE(TWO) END), 1, false},
    {T(POST TRACE(ONE) CHUNKED END "x\r\n"), 1, true},
    {T(POST TRACE(ONE) CHUNKED END "\r\n"), 1, true},
    {T(POST TRACE(ONE) CHUNKED END "1\r\nab\r\n"), 1, true},
    {T(POST TRACE(ONE) CHUNKED END "1234567890123456\r\n"), 1, true},
    /* Several requests in one read: which one is worked for is not known. */
    {T(GET TRACE(ONE) END GET TRACE(TWO) END), MIXED, false},
    {T(GET TRACE(ONE) END GET END), MIXED, false},
    {T(GET END GET TRACE(ONE) END), MIXED, false},
    {T(GET TRACE(ONE) END GET TRACE(ONE) END), 1, false},
    {T(GET END "\r\n" GET END), NONE, false},
    /* What follows an upgrade, or a tunnel, is no request any more. */
    {T(GET "Upgrade: websocket\r\n" TRACE(ONE) END "\x81\x85" GET TRACE(TWO)
           END),
     1, true},
    {T("CONNECT a:1 HTTP/1.1\r\n" TRACE(ONE) END GET TRACE(TWO) END), 1, true},
    /* A proxy's line comes before the first request only. */
    {T("PROXY TCP4 1.2.3.4 5.6.7.8 9 10\r\n" GET TRACE(ONE) END), 1, false},
    {T("PROXY UNKNOWN\r\nPROXY UNKNOWN\r\n" GET TRACE(ONE) END), NOTHING, true},
    {T("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\3abc" GET TRACE(ONE) END), 1, false},
};

Test(http, a_head_has_a_trace_if_it_has_one_good_line_of_it)
{
    FEED_CASES(heads);
}

Test(http, the_end_of_a_request_is_where_its_body_ends)
{
    FEED_CASES(bodies);
}

/* A head of this size, with the trace in its last line. */
static struct otelctx_span head_of(char *room, size_t size)
{
    static const char first[] = GET "Cookie: ", last[] = "\r\n" TRACE(ONE) END;

    memset(room, 'c', size);
    memcpy(room, first, sizeof(first) - 1);
    memcpy(room + size - sizeof(last) + 1, last, sizeof(last) - 1);
    return (struct otelctx_span){room, size};
}

Test(http, a_head_is_looked_at_up_to_its_limit)
{
    char room[OTELCTX_HEAD_LIMIT + 1];

    feed_both_ways(head_of(room, OTELCTX_HEAD_LIMIT), 1, false);
    feed_both_ways(head_of(room, OTELCTX_HEAD_LIMIT + 1), NOTHING, true);
}

/* Lines of random heads, and what a plain reader makes of them. */
static const struct {
    struct otelctx_span text;
    int trace;      /* of the line; MIXED: malformed */
    bool is_opaque; /* the head counts no more */
} lines[] = {
    {T(TRACE(ONE)), 1, false},
    {T("TraceParent:" TWO "\r\n"), 2, false},
    {T(TRACE("00-" TWO)), MIXED, false},
    {T("traceparent:\r\n"), MIXED, false},
    {T("Host: a\r\n"), NONE, false},
    {T("Cookie: " TRACE(ONE)), NONE, false},
    {T("tracestate: a=b\r\n"), NONE, false},
    {T("traceparen: " ONE "\r\n"), NONE, false},
    {T("Content-Length: 0\r\n"), NONE, false},
    {T("a: \xff\x80\x01\r\n"), NONE, false},
    {T(" " TRACE(ONE)), NONE, true},
    {T("\t\r\n"), NONE, true},
    {T("b\n"), NONE, true},
    {T("\n"), NONE, true},
};

static unsigned draw(uint64_t *seed, unsigned limit)
{
    *seed = *seed * 6364136223846793005 + 1442695040888963407;
    return (unsigned)(*seed >> 33) % limit;
}

struct random_head {
    char text[1024];
    size_t size;
    int expected;
    bool is_opaque;
};

static void append(struct random_head *head, struct otelctx_span text)
{
    memcpy(head->text + head->size, text.at, text.size);
    head->size += text.size;
}

static void make_head(struct random_head *head, uint64_t *seed)
{
    static const unsigned length = 8; /* "Content-Length", in the table */
    unsigned traces = 0, lengths = 0;

    *head = (struct random_head){.expected = NONE};
    append(head, OTELCTX_SPAN(GET));
    for (unsigned count = draw(seed, 6); count > 0; count--) {
        const unsigned i = draw(seed, sizeof(lines) / sizeof(*lines));

        append(head, lines[i].text);
        lengths += i == length;
        head->is_opaque |= lines[i].is_opaque || lengths > 1;
        if (lines[i].trace != NONE)
            head->expected = ++traces == 1 ? lines[i].trace : NONE;
    }
    append(head, OTELCTX_SPAN(END));
    if (head->is_opaque)
        head->expected = NOTHING;
    else if (head->expected == MIXED)
        head->expected = NONE;
}

Test(http, a_million_random_heads_are_read_as_a_plain_reader_reads_them)
{
    static struct feed f;
    struct random_head head;
    uint64_t seed = 1;

    for (unsigned i = 0; i < 1000000; i++) {
        size_t cut;

        make_head(&head, &seed);
        cut = draw(&seed, (unsigned)head.size);
        f.stream = (struct otelctx_stream){.remaining = 0};
        f.size = 0;
        (void)feed(&f, (struct otelctx_span){head.text, cut});
        cr_assert_eq(
            feed(&f, (struct otelctx_span){head.text + cut, head.size - cut}),
            head.expected, "head %u: %.*s", i, (int)head.size, head.text);
        cr_assert_eq(f.stream.protocol == OTELCTX_OPAQUE, head.is_opaque);
    }
}
