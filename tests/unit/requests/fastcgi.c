/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/requests/feed.h"

/* A header of the record `type` of request 1, and what records contain. */
#define T(text)              OTELCTX_SPAN_INIT(text)
#define RECORD(type, size)   "\1" type "\0\1\0" size "\0\0"
#define BEGIN                RECORD("\1", "\x8") "\0\1\1\0\0\0\0\0"
#define END_PARAMS           RECORD("\4", "\0")
#define STDIN(size, content) RECORD("\5", size) content
#define NAME                 "HTTP_TRACEPARENT"
/* 2 + 16 + 55 bytes */
#define TRACE(trace)                                                           \
    RECORD("\4", "I")                                                          \
    "\x10"                                                                     \
    "7" NAME trace

static const struct feed_case cases[] = {
    {T(BEGIN TRACE(ONE) END_PARAMS), 1, false},
    {T(BEGIN TRACE(ONE) END_PARAMS STDIN("\0", "")), 1, false},
    {T(BEGIN TRACE(ONE) END_PARAMS STDIN("\5", "12345") STDIN("\0", "")), 1,
     false},
    {T(BEGIN RECORD("\4", "\4") "\1\1ab" TRACE(ONE) END_PARAMS), 1, false},
    /* Lengths of four bytes, padding, a record of another kind before. */
    {T("\1\x9\0\0\0\1\7\0A1234567" BEGIN "\1\4\0\1\0\x4f\1\0"
       "\x80\0\0\x10\x80\0\0\x37" NAME ONE "x" END_PARAMS),
     1, false},
    {T(BEGIN END_PARAMS), NONE, false},
    {T(BEGIN TRACE(ONE)), NOTHING, false},
    {T(BEGIN TRACE(ONE) TRACE(TWO) END_PARAMS), NONE, false},
    {T(BEGIN TRACE("00-x1111111111111111111111111111111-1111111111111111-01")
           END_PARAMS),
     NONE, false},
    /* Pairs that do not end where the record does. */
    {T(BEGIN TRACE(ONE) RECORD("\4", "\3") "\1\2a" END_PARAMS), NONE, false},
    {T(BEGIN TRACE(ONE) RECORD("\4", "\2") "\x80\0" END_PARAMS), NONE, false},
    {T(BEGIN TRACE(ONE) RECORD("\4", "\5") "\xff\xff\xff\xff\1" END_PARAMS),
     NONE, false},
    /* The name inside another value, and the words in a body. */
    {T(BEGIN RECORD("\4", "L") "\1"
                               "I"
                               "A"
                               "\x10"
                               "7" NAME ONE END_PARAMS),
     NONE, false},
    {T(BEGIN END_PARAMS STDIN("Q", TRACE(ONE)) STDIN("\0", "")), NONE, false},
    /* A second request on the connection; then two at a time. */
    {T(BEGIN TRACE(ONE) END_PARAMS STDIN("\0", "") BEGIN TRACE(TWO) END_PARAMS),
     MIXED, false},
    {T(BEGIN TRACE(ONE) END_PARAMS BEGIN), 1, true},
    {T(BEGIN "\1\4\0\2\0\0\0\0"), NOTHING, true},
    {T(BEGIN RECORD("\2", "\0") BEGIN TRACE(ONE) END_PARAMS), 1, false},
    {T(BEGIN "\2\4\0\1\0\0\0\0"), NOTHING, true},
    {T(BEGIN RECORD("\6", "\0")), NOTHING, true},
    {T(END_PARAMS TRACE(ONE)), NOTHING, true},
};

Test(fastcgi, a_request_has_a_trace_if_it_has_one_good_parameter_of_it)
{
    FEED_CASES(cases);
}

Test(fastcgi, ends_with_a_record_of_its_own_id)
{
    const struct otelctx_stream stream = {.protocol = OTELCTX_FASTCGI, .id = 1};
    static const struct otelctx_span end =
        T("ok\1\3\0\1\0\x8\0\0\0\0\0\0\0\0\0\0");
    static const struct otelctx_span other =
        T("ok\1\3\0\2\0\x8\0\0\0\0\0\0\0\0\0\0");

    cr_expect(otelctx_stream_ends(&stream, end));
    cr_expect_not(otelctx_stream_ends(&stream, other));
    cr_expect_not(otelctx_stream_ends(
        &stream, (struct otelctx_span){end.at, end.size - 1}));
    cr_expect_not(otelctx_stream_ends(&stream, OTELCTX_SPAN("ok")));
}
