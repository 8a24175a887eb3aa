/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/otlp_json.h"

#include "tests/unit/top/output/full.h"
#include "tests/unit/top/output/samples.h"

#include <errno.h>

static struct oteltop_window window;
static struct oteltop_process *shop;
static struct oteltop_thread *worker;

static void setup(void)
{
    shop =
        process_make(42, (const char *const[]){"service.name", "shop", NULL});
    worker = oteltop_thread_new(shop, 43, "worker");
    window.end_ns = 2000000000;
}

static void teardown(void)
{
    oteltop_window_free(&window);
    oteltop_thread_free(worker);
    oteltop_process_free(shop);
}

TestSuite(top_otlp_json, .init = setup, .fini = teardown);

static int write_text(const char *names, bool wall, char **text)
{
    struct oteltop_dimensions dimensions = by(names);
    size_t size = 0;
    FILE *const out = open_memstream(text, &size);
    int error;

    cr_assert(out);
    error = oteltop_otlp_json_write(out, &window, &dimensions,
                                    1234567890123456789, wall);
    (void)fclose(out);
    oteltop_dimensions_free(&dimensions);
    return error;
}

static char *written(const char *names, bool wall)
{
    char *text = NULL;

    cr_assert_eq(write_text(names, wall, &text), 0);
    return text;
}

/* Quotes are apostrophes in what is expected. */
static char *quoted(const char *expected)
{
    char *const text = strdup(expected);

    for (char *i = text; *i; i++)
        *i = *i == '\'' ? '"' : *i;
    return text;
}

static void expect_text(const char *names, bool wall, const char *expected)
{
    char *const text = written(names, wall);
    char *const wanted = quoted(expected);

    cr_expect_str_eq(text, wanted);
    free(wanted);
    free(text);
}

static void expect_part(const char *text, const char *expected)
{
    char *const wanted = quoted(expected);

    cr_expect(strstr(text, wanted), "%s\nis not in:\n%s", wanted, text);
    free(wanted);
}

#define SCOPE "'scope':{'name':'otelctx-top','version':'" OTELCTX_VERSION "'}"
#define TIMES "'timeUnixNano':'1234567890123456789','durationNano':'2000000000'"
#define NO_LINK                                                                \
    "{'traceId':'00000000000000000000000000000000',"                           \
    "'spanId':'0000000000000000'}"

Test(top_otlp_json, a_line_is_all_profiles_and_what_they_refer_to)
{
    struct oteltop_span *const cart =
        span_make(shop, 7, (const char *const[]){"http.route", "/cart", NULL});

    add(&window, worker, cart, 'R', 5000000);
    add(&window, worker, cart, 'R', 6000000);
    expect_text("service,http.route", false,
                "{'resourceProfiles':[{'resource':{'attributes':["
                "{'key':'service.name','value':{'stringValue':'shop'}},"
                "{'key':'process.pid','value':{'intValue':'42'}}]},"
                "'scopeProfiles':[{" SCOPE ",'profiles':[{"
                "'sampleType':{'typeStrindex':7,'unitStrindex':8},"
                "'samples':[{'stackIndex':1,'attributeIndices':[1,2,3,4],"
                "'linkIndex':1,'values':['11000000']}]," TIMES "}]}]}],"
                "'dictionary':{'mappingTable':[{}],"
                "'locationTable':[{},{'lines':[{'functionIndex':1}]},"
                "{'lines':[{'functionIndex':2}]}],"
                "'functionTable':[{},{'nameStrindex':1},{'nameStrindex':2}],"
                "'linkTable':[" NO_LINK ",{'traceId':'" TRACE_7
                "','spanId':'" SPAN_7 "'}],"
                "'stringTable':['','/cart','shop','http.route','thread.name',"
                "'thread.id','thread.state','cpu','nanoseconds'],"
                "'attributeTable':[{},"
                "{'keyStrindex':3,'value':{'stringValue':'/cart'}},"
                "{'keyStrindex':4,'value':{'stringValue':'worker'}},"
                "{'keyStrindex':5,'value':{'intValue':'43'}},"
                "{'keyStrindex':6,'value':{'stringValue':'R'}}],"
                "'stackTable':[{},{'locationIndices':[1,2]}]}}\n");
}

Test(top_otlp_json, without_samples_the_tables_have_their_first_entry)
{
    expect_text("service", true,
                "{'resourceProfiles':[],'dictionary':{'mappingTable':[{}],"
                "'locationTable':[{}],'functionTable':[{}],"
                "'linkTable':[" NO_LINK "],'stringTable':[''],"
                "'attributeTable':[{}],'stackTable':[{}]}}\n");
}

Test(top_otlp_json, with_wall_each_process_has_a_second_profile)
{
    char *text;

    add(&window, worker, NULL, 'R', 500);
    add(&window, worker, NULL, 'S', 0);
    text = written("service", true);
    expect_part(
        text,
        "'sampleType':{'typeStrindex':5,'unitStrindex':6},'samples':["
        "{'stackIndex':1,'attributeIndices':[1,2,3],'values':['500']}]," TIMES
        "},"
        "{'sampleType':{'typeStrindex':7,'unitStrindex':6},'samples':["
        "{'stackIndex':1,'attributeIndices':[1,2,3],'values':['2000']},"
        "{'stackIndex':1,'attributeIndices':[1,2,4],'values':['1000']}]," TIMES
        "}]");
    free(text);
}

Test(top_otlp_json, nothing_is_in_the_tables_that_no_sample_refers_to)
{
    char *text;

    add(&window, worker, span_make(shop, 7, NULL), 'D', 0);
    text = written("trace", false);
    expect_part(text, "'samples':[]");
    expect_part(text, "'linkTable':[" NO_LINK "]");
    expect_part(text, "'stringTable':['','cpu','nanoseconds']");
    free(text);
}

/* Their spans differ in the flags only. */
Test(top_otlp_json, samples_that_are_the_same_become_one)
{
    struct oteltop_span *const first = span_make(shop, 7, NULL);
    struct oteltop_span like = *first;
    char *text;

    like.flags = 0;
    add(&window, worker, first, 'R', 5);
    add(&window, worker, oteltop_span_intern(shop, &like, 0), 'R', 6);
    cr_assert_eq(window.count, 2);
    text = written("trace", false);
    expect_part(text, "'linkIndex':1,'values':['11']}]");
    free(text);
}

Test(top_otlp_json, each_process_is_a_resource_with_or_without_a_context)
{
    struct oteltop_process *const alone = process_make(7, NULL);
    struct oteltop_thread *const its = oteltop_thread_new(alone, 7, "app");
    char *text;

    alone->container = strdup("0123456789ab");
    add(&window, its, NULL, 'R', 6);
    add(&window, worker, NULL, 'R', 5);
    text = written("service", false);
    expect_part(text, "[{'resource':{'attributes':["
                      "{'key':'service.name','value':{'stringValue':'shop'}},"
                      "{'key':'process.pid','value':{'intValue':'42'}}]}");
    expect_part(text,
                "'values':['5']}]," TIMES "}]}]},"
                "{'resource':{'attributes':["
                "{'key':'process.pid','value':{'intValue':'7'}},"
                "{'key':'container.id','value':{'stringValue':'0123456789ab'}}"
                "]}");
    expect_part(text, "'(no context)'");
    oteltop_thread_free(its);
    oteltop_process_free(alone);
    free(text);
}

Test(top_otlp_json, what_the_program_says_of_itself_counts)
{
    struct oteltop_process *const own =
        process_make(7, (const char *const[]){"process.pid", "1",
                                              "container.id", "c", NULL});
    struct oteltop_thread *const its = oteltop_thread_new(own, 8, "app");
    char *text;

    own->container = strdup("0123456789ab");
    add(&window, its,
        span_make(own, 7,
                  (const char *const[]){"thread.id", "9", "thread.name", "mine",
                                        "thread.state", "busy", NULL}),
        'R', 6);
    text = written("service", false);
    expect_part(text, "{'attributes':["
                      "{'key':'process.pid','value':{'stringValue':'1'}},"
                      "{'key':'container.id','value':{'stringValue':'c'}}]}");
    expect_part(text, "'attributeIndices':[1,2,3],");
    expect_part(text, "'attributeTable':[{},"
                      "{'keyStrindex':2,'value':{'stringValue':'9'}},"
                      "{'keyStrindex':3,'value':{'stringValue':'mine'}},"
                      "{'keyStrindex':4,'value':{'stringValue':'busy'}}]");
    oteltop_thread_free(its);
    oteltop_process_free(own);
    free(text);
}

Test(top_otlp_json, a_key_is_there_once_with_its_last_value_and_never_empty)
{
    struct oteltop_process *const own = process_make(
        7, (const char *const[]){"a", "1", "", "x", "a", "2", NULL});
    struct oteltop_thread *const its = oteltop_thread_new(own, 8, "app");
    char *text;

    add(&window, its,
        span_make(own, 7,
                  (const char *const[]){"b", "3", "", "y", "b", "4", NULL}),
        'R', 6);
    text = written("service", false);
    expect_part(text, "{'attributes':[{'key':'a','value':{'stringValue':'2'}},"
                      "{'key':'process.pid'");
    expect_part(text, "'attributeTable':[{},"
                      "{'keyStrindex':2,'value':{'stringValue':'4'}},"
                      "{'keyStrindex':3,'value':{'stringValue':'app'}}");
    oteltop_thread_free(its);
    oteltop_process_free(own);
    free(text);
}

Test(top_otlp_json, any_text_is_a_string_of_json)
{
    struct oteltop_span *const odd =
        span_make(shop, 7,
                  (const char *const[]){"k\"ey", "a\"\\\n\x01;\xff\xe2\x80\xa8",
                                        "empty", "", NULL});
    char *text;

    add(&window, worker, odd, 'R', 5);
    text = written("k\"ey,empty", false);
    expect_part(text, "{'keyStrindex':3,'value':{'stringValue':"
                      "'a\\'\\\\\\u000a\\u0001;\\ufffd\\u2028'}}");
    expect_part(text, "{'keyStrindex':4,'value':{'stringValue':''}}");
    expect_part(text, "'stringTable':['','(empty)',"
                      "'a\\'\\\\\\u000a\\u0001;\\ufffd\\u2028','k\\'ey',"
                      "'empty',");
    cr_expect_eq(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
}

/* Each span has its own attribute, so that a sample takes about 600 bytes. */
Test(top_otlp_json, a_line_that_would_be_too_long_becomes_several)
{
    char value[300];
    char *text;
    size_t lines = 0;
    size_t samples = 0;

    for (unsigned i = 0; i < 4000; i++) {
        (void)snprintf(value, sizeof(value), "%0250u", i);
        add(&window, worker,
            span_make(shop, 7,
                      (const char *const[]){"http.route", value, NULL}),
            'R', 1);
    }
    text = written("http.route", true);
    for (char *line = text, *end; *line; line = end + 1, lines++) {
        end = strchr(line, '\n');
        cr_assert(end);
        *end = '\0';
        cr_expect_lt(end - line, 1 << 20);
        expect_part(line, "{'resourceProfiles':[{'resource':{'attributes':["
                          "{'key':'service.name'");
        expect_part(line, "'stackTable':[{},{'locationIndices':[1]},");
        for (const char *at = line; (at = strstr(at, "\"values\":[\"1\"]"));
             at++)
            samples++;
    }
    cr_expect_geq(lines, 3);
    cr_expect_eq(samples, 4000);
    free(text);
}

Test(top_otlp_json, wherever_memory_ends_it_says_so)
{
    char *text = NULL;
    size_t size = 0;
    int error = -ENOMEM;
    int calls = 0;

    add(&window, worker, span_make(shop, 7, NULL), 'R', 5);
    for (; error != 0; calls++) {
        struct oteltop_dimensions dimensions = by("service,thread");
        FILE *const out = open_memstream(&text, &size);

        cr_assert(calls < 1000);
        left = calls;
        error = oteltop_otlp_json_write(out, &window, &dimensions, 1, true);
        cr_expect_eq(error, was_short ? -ENOMEM : 0);
        was_short = false;
        left = -1;
        (void)fclose(out);
        cr_expect(error == 0 || size == 0, "half a line is none");
        free(text);
        oteltop_dimensions_free(&dimensions);
    }
    cr_expect_gt(calls, 20);
}
