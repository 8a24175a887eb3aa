/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/requests/sql.h"

#include "tests/unit/requests/feed.h"

#define T(text)        OTELCTX_SPAN_INIT(text)
#define COMMENT(trace) "/*traceparent='" trace "'*/"

static const struct {
    struct otelctx_span statement;
    int expected;
} statements[] = {
    {T("select 1 " COMMENT(ONE)), 1},
    {T("select 1 " COMMENT(ONE) ";\n\t \0"), 1},
    {T("select 1; " COMMENT(ONE)), 1},
    {T(COMMENT(ONE)), 1},
    {T("select 1 /*a='b', route='%2Fc' ,traceparent='" ONE "',z=''*/"), 1},
    {T("select 1 /* traceparent='" ONE "' */"), 1},
    {T("s /*traceparent='00%2d11111111111111111111111111111111-11111111%31"
       "1111111-01'*/"),
     1},
    {T("select " COMMENT(TWO) " 1 " COMMENT(ONE)), 1},
    {T(""), 0},
    {T("*/"), 0},
    {T("/*/"), 0},
    {T("/**/"), 0},
    {T("select 1"), 0},
    {T("select 1 /* " ONE " */"), 0},
    {T("select 1 /*traceparent=" ONE "*/"), 0},
    {T("select 1 /*traceparent='" ONE "*/"), 0},
    {T("select 1 /*traceparent='" ONE "'x*/"), 0},
    {T("select 1 /*traceparent='" ONE "',*/"), 0},
    {T("select 1 /*traceparent='" ONE "',traceparent='" ONE "'*/"), 0},
    {T("select 1 /*traceparent='00-x'*/"), 0},
    {T("select 1 /*traceparent='" ONE "%2'*/"), 0},
    {T("select 1 /*tracestate='" ONE "'*/"), 0},
    {T("select 1 /*xtraceparent='" ONE "'*/"), 0},
    {T("select 1 /*a='\\',traceparent='" ONE "'*/"), 0},
    /* The comment is not at the end: it may be inside a literal. */
    {T("select '" COMMENT(ONE) "'"), 0},
    {T("select \"" COMMENT(ONE) "\""), 0},
    {T("select $$" COMMENT(ONE) "$$"), 0},
    {T("select " COMMENT(ONE) " 1"), 0},
    {T("select 1 " COMMENT(ONE) " -- more"), 0},
    {T("select 1 " COMMENT(ONE) " /* more */"), 0},
    /* A comment that is code. */
    {T("select 1 /*!traceparent='" ONE "'*/"), 0},
    {T("select 1 /*+ traceparent='" ONE "'*/"), 0},
};

Test(sql, a_statement_has_the_trace_of_the_comment_that_ends_it)
{
    for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
        const struct otelctx_span text = statements[i].statement;
        struct otelctx_traceparent out = {.flags = 0};
        char *exact = malloc(text.size + 1);

        memcpy(exact, text.at, text.size);
        cr_expect_eq(otelctx_sql_trace((struct otelctx_span){exact, text.size},
                                       &out, NULL),
                     statements[i].expected != 0, "%s", text.at);
        cr_expect_eq(out.trace_id[0] >> 4, statements[i].expected, "%s",
                     text.at);
        free(exact);
    }
}

Test(sql, a_comment_is_looked_at_up_to_a_limit)
{
    static char text[1 << 20];
    static const char comment[] = COMMENT(ONE);
    struct otelctx_traceparent out;

    memset(text, ' ', sizeof(text));
    text[0] = '/';
    text[1] = '*';
    memcpy(text + sizeof(text) - sizeof(comment), comment, sizeof(comment));
    cr_expect(otelctx_sql_trace((struct otelctx_span){text, sizeof(text)}, &out,
                                NULL));
    memset(text + 2, ' ', sizeof(text) - 5);
    text[sizeof(text) - 3] = '*';
    text[sizeof(text) - 2] = '/';
    cr_expect_not(otelctx_sql_trace((struct otelctx_span){text, sizeof(text)},
                                    &out, NULL));
}

/* PostgreSQL: sizes include themselves, in four bytes. */
#define STARTUP "\0\0\0\x10\0\3\0\0user\0u\0\0"
#define QUERY(trace)                                                           \
    "Q\0\0\0\x55"                                                              \
    "select " COMMENT(trace) "\0"
#define PLAIN                                                                  \
    "Q\0\0\0\xb"                                                               \
    "select\0"
#define PARSE(trace)                                                           \
    "P\0\0\0\x59"                                                              \
    "n\0select " COMMENT(trace) "\0\0\0"
#define PARSE_BEGIN                                                            \
    "P\0\0\0\xd"                                                               \
    "\0begin\0\0\0"
#define BIND                                                                   \
    "B\0\0\0\xc"                                                               \
    "\0\0\0\0\0\0\0\0"
#define EXECUTE                                                                \
    "E\0\0\0\x9"                                                               \
    "\0\0\0\0\0"
#define SYNC "S\0\0\0\4"

static const struct feed_case postgresql[] = {
    {T(STARTUP QUERY(ONE)), 1, false},
    {T("\0\0\0\x8\4\xd2\x16\x2f" STARTUP QUERY(ONE)), 1, false},
    {T(STARTUP "p\0\0\0\x6pw" QUERY(ONE)), 1, false},
    {T(STARTUP PLAIN), NONE, false},
    {T(STARTUP QUERY(ONE) QUERY(TWO)), MIXED, false},
    {T(STARTUP QUERY(ONE) PLAIN), MIXED, false},
    {T(STARTUP PARSE(ONE) BIND EXECUTE SYNC), 1, false},
    {T(STARTUP PARSE_BEGIN BIND EXECUTE PARSE(ONE) BIND EXECUTE SYNC), 1,
     false},
    {T(STARTUP PLAIN PARSE_BEGIN PARSE(ONE) SYNC), MIXED, false},
    {T(STARTUP PARSE(ONE) BIND EXECUTE PARSE(TWO) BIND EXECUTE SYNC), MIXED,
     false},
    /* What was prepared before has no comment, so no trace. */
    {T(STARTUP PARSE(ONE) SYNC BIND EXECUTE SYNC), MIXED, false},
    {T(STARTUP BIND EXECUTE SYNC), NONE, false},
    {T(STARTUP QUERY(ONE) "d\0\0\0\x8"
                          "data"
                          "c\0\0\0\4"),
     1, false},
    {T(STARTUP "Q\0\0\0\3"), NOTHING, true},
    {T(STARTUP "y\0\0\0\4"), NOTHING, true},
    {T("\0\0\0\x10\4\xd2\x16\x2e"
       "12345678"),
     NOTHING, true},
    {T("\0\0\0\x8\4\xd2\x16\x2f\x16\3\1\0\0\0\0\0"), NOTHING, true},
};

Test(postgresql, a_request_is_a_statement_or_all_up_to_a_sync)
{
    FEED_CASES(postgresql);
}

Test(postgresql, a_statement_of_100_mb_has_no_trace_and_is_skipped)
{
    static struct feed f;
    static char text[1 << 16];
    const size_t size = 100000000;

    (void)feed(&f, OTELCTX_SPAN(STARTUP "Q\x05\xf5\xe1\x04"));
    cr_expect_eq(f.stream.remaining, size);
    cr_expect_not(f.stream.traced);
    for (size_t left = size, part; left > 0; left -= part) {
        part = left < sizeof(text) ? left : sizeof(text);
        (void)feed(&f, (struct otelctx_span){text, part});
        cr_assert_eq(f.size, 0, "nothing is kept");
    }
    cr_expect_eq(feed(&f, OTELCTX_SPAN(QUERY(ONE))), 1);
}

Test(postgresql, ends_when_it_is_ready_for_a_query)
{
    const struct otelctx_stream stream = {.protocol = OTELCTX_POSTGRESQL};

    cr_expect(otelctx_stream_ends(&stream, OTELCTX_SPAN("C..Z\0\0\0\5I")));
    cr_expect_not(otelctx_stream_ends(&stream, OTELCTX_SPAN("C..Z\0\0\0\5")));
    cr_expect_not(otelctx_stream_ends(&stream, OTELCTX_SPAN("Z\0\0\0\5x")));
}

/* MySQL: the size, little-endian, and the number of the packet. */
#define ZEROES        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define LOGIN(flags)  "\x24\0\0\1" flags "\0\0\0\1\x21" ZEROES "u\0\0\0"
#define COM_QUERY     "\x3"
#define COM_PREPARE   "\x16"
#define COMMAND(type) "L\0\0\0" type "s " COMMENT(ONE)
#define OTHER(type)   "L\0\0\0" type "s " COMMENT(TWO)

static const struct feed_case mysql[] = {
    {T(LOGIN("\0\x82\0\0") COMMAND(COM_QUERY)), 1, false},
    {T(LOGIN("\0\x82\0\0") COMMAND(COM_PREPARE)), 1, false},
    {T(LOGIN("\0\x82\0\0") "\4\0\0\3auth" COMMAND(COM_QUERY)), 1, false},
    {T(LOGIN("\0\x82\0\0") COMMAND(COM_QUERY) OTHER(COM_QUERY)), MIXED, false},
    {T(LOGIN("\0\x82\0\0") COMMAND("\x2")), NONE, false},
    {T(LOGIN("\0\x82\0\0") COMMAND(COM_QUERY) "\1\0\0\0\x1"), MIXED, false},
    {T(LOGIN("\x20\x82\0\0") COMMAND(COM_QUERY)), NOTHING, true},
    {T(LOGIN("\0\x8a\0\0") COMMAND(COM_QUERY)), NOTHING, true},
    {T(LOGIN("\0\x80\0\0") COMMAND(COM_QUERY)), NOTHING, true},
};

Test(mysql, a_request_is_a_command)
{
    FEED_CASES(mysql);
}
