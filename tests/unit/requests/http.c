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
