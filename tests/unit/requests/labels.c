/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/requests/feed.h"

#define T(text)   OTELCTX_SPAN_INIT(text)
#define GET(path) "GET " path " HTTP/1.1\r\n"
#define TRACE     "traceparent: " ONE "\r\n"
#define END       "\r\n"
#define HEX       "0123456789abcdef"
#define DIGITS    "12345678901234567890123456789012"

/* What is known after the bytes: method, path, route, operation. */
struct labels_case {
    struct otelctx_span text;
    const char *expected[OTELCTX_LABELS];
};

static const struct labels_case http[] = {
    {T(GET("/") END), {"GET", "/", "/"}},
    {T("POST /a/b HTTP/1.0\r\n" TRACE END), {"POST", "/a/b", "/a/b"}},
    {T(GET("/a?b=/c#d") END), {"GET", "/a", "/a"}},
    {T(GET("/a;jsessionid=b/c?d") END), {"GET", "/a", "/a"}},
    {T(GET("http://a@b:1/c/2?d") END), {"GET", "/c/2", "/c/*"}},
    {T(GET("https://a") END), {"GET"}},
    {T(GET("ftp://a/b") END), {"GET"}},
    {T("OPTIONS * HTTP/1.1\r\n" END), {"OPTIONS"}},
    {T("CONNECT a:1 HTTP/1.1\r\n" END), {"CONNECT"}},
    {T(GET("/a\xc3\xa4") END), {"GET"}},
    {T(GET("/\x7f") END), {"GET"}},
    {T(GET("//1//2a/3/") END), {"GET", "//1//2a/3/", "//*//2a/*/"}},
    {T(GET("/" HEX) END), {"GET", "/" HEX, "/*"}},
    {T(GET("/0123456789abcde") END),
     {"GET", "/0123456789abcde", "/0123456789abcde"}},
    {T(GET("/" HEX "g") END), {"GET", "/" HEX "g", "/" HEX "g"}},
    {T(GET("/u/4BF92F35-77B3-4da6-a3ce-929d0e0e4736") END),
     {"GET", "/u/4BF92F35-77B3-4da6-a3ce-929d0e0e4736", "/u/*"}},
    /* The second of two: which of them is worked for is not known, see MIXED.
     */
    {T(GET("/a") END GET("/b") END), {"GET", "/b", "/b"}},
    {T(GET("/a")), {NULL}},
    {T("GET /a\r\n" END), {NULL}},
    /* Of a path that is too long the beginning. */
    {T(GET("/" DIGITS DIGITS DIGITS DIGITS) END),
     {"GET", "/" DIGITS DIGITS DIGITS "123456789012345678901234567890", "/*"}},
};

#define FASTCGI(type, size) "\1" type "\0\1\0" size "\0\0"
#define BEGIN               FASTCGI("\1", "\x8") "\0\1\1\0\0\0\0\0"
#define METHOD              FASTCGI("\4", "\x13") "\xe\3REQUEST_METHODPUT"
#define URI                 FASTCGI("\4", "\x13") "\xb\6REQUEST_URI/a/1?b"

static const struct labels_case fastcgi[] = {
    {T(BEGIN METHOD URI FASTCGI("\4", "\0")), {"PUT", "/a/1", "/a/*"}},
    {T(BEGIN METHOD FASTCGI("\4", "\0") FASTCGI("\5", "\0") BEGIN URI),
     {NULL, "/a/1", "/a/*"}},
    {T(BEGIN METHOD FASTCGI("\2", "\0")), {NULL}},
};

/* PostgreSQL, and the sizes of its messages. */
#define STARTUP     "\0\0\0\x10\0\3\0\0user\0u\0\0"
#define QUERY(text) "Q\0\0\0\x2d" text "\0"
#define PARSE(text)                                                            \
    "P\0\0\0\xf"                                                               \
    "\0" text "\0\0\0"
#define BIND "B\0\0\0\xc\0\0\0\0\0\0\0\0"
#define SYNC "S\0\0\0\4"

static const struct labels_case postgresql[] = {
    {T(STARTUP QUERY("\nSELECT /*a='b',route='%2Fc%2F%7Bd' */  ")),
     {NULL, NULL, "/c/{d", "SELECT"}},
    {T(STARTUP QUERY("values (1) - 'secret' /*route='/a'*/ (2)")),
     {NULL, NULL, NULL, "values"}},
    {T(STARTUP QUERY("-- 3456789012345678901234567890123456789")), {NULL}},
    {T(STARTUP QUERY("e /*route='%C3%A4',a=''*/               ")),
     {NULL, NULL, NULL, "e"}},
    {T(STARTUP QUERY("e /*route='a',a=b*/                     ")),
     {NULL, NULL, NULL, "e"}},
    /* Drivers send BEGIN with the first statement. */
    {T(STARTUP PARSE("begin  ") BIND PARSE("delete ") BIND SYNC),
     {NULL, NULL, NULL, "delete"}},
    /* Of a statement that was prepared before, nothing is known. */
    {T(STARTUP PARSE("delete ") SYNC BIND), {NULL}},
};

#define COMMAND(type) "\x7\0\0\0" type "update"
#define LOGIN                                                                  \
    "\x24\0\0\1\0\x82\0\0\0\0\0\1\x21"                                         \
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0u\0\0\0"

static const struct labels_case mysql[] = {
    {T(LOGIN COMMAND("\3")), {NULL, NULL, NULL, "update"}},
    {T(LOGIN COMMAND("\3") COMMAND("\4")), {NULL}},
};

static void expect(const struct labels_case *c)
{
    static struct feed f;
    struct otelctx_labels labels = {.sizes = {0}};

    memset(&f, 0, sizeof(f));
    f.stream.labels = &labels;
    (void)feed(&f, c->text);
    for (unsigned i = 0; i < OTELCTX_LABELS; i++) {
        const char *const wanted = c->expected[i] ? c->expected[i] : "";

        cr_expect(otelctx_span_equal(
                      (struct otelctx_span){labels.text[i], labels.sizes[i]},
                      otelctx_span_from(wanted)),
                  "%.*s: label %u: %.*s, not %s", (int)c->text.size, c->text.at,
                  i, (int)labels.sizes[i], labels.text[i], wanted);
    }
}

#define EXPECT(cases)                                                          \
    for (size_t i_ = 0; i_ < sizeof(cases) / sizeof(*(cases)); i_++)           \
    expect(&(cases)[i_])

Test(labels, of_each_protocol)
{
    EXPECT(http);
    EXPECT(fastcgi);
    EXPECT(postgresql);
    EXPECT(mysql);
}

static const struct {
    struct otelctx_span text;
    int expected;
} mixed[] = {
    {T(GET("/a") END GET("/b") END), MIXED},
    {T(STARTUP PARSE("delete ") BIND PARSE("insert ") BIND SYNC), MIXED},
    {T(STARTUP PARSE("begin  ") PARSE("insert ") PARSE("update ")), MIXED},
    {T(STARTUP PARSE("BEGIN  ") BIND PARSE("insert ") BIND SYNC), NONE},
    {T(STARTUP PARSE("beginx ") BIND PARSE("insert ") BIND SYNC), MIXED},
    {T(LOGIN COMMAND("\3") COMMAND("\3")), MIXED},
};

Test(labels, of_several_requests_in_one_read_it_is_not_known_which_one_counts)
{
    static struct feed f;
    struct otelctx_labels labels = {.sizes = {0}};

    for (size_t i = 0; i < sizeof(mixed) / sizeof(*mixed); i++) {
        memset(&f, 0, sizeof(f));
        f.stream.labels = &labels;
        cr_expect_eq(feed(&f, mixed[i].text), mixed[i].expected, "%zu", i);
    }
}
