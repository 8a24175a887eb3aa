/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/pprof.h"

#include "tests/unit/top/output/full.h"
#include "tests/unit/top/output/samples.h"

#include <errno.h>
#include <inttypes.h>

static struct oteltop_window window;
static struct oteltop_process *shop;
static struct oteltop_thread *worker;

static void setup(void)
{
    shop = process_make(
        42, (const char *const[]){"service.name", "shop", "host.name", "old",
                                  "host.name", "build-7", NULL});
    worker = oteltop_thread_new(shop, 43, "worker");
    window.begin_ns = 0;
    window.end_ns = 2000000000;
}

static void teardown(void)
{
    oteltop_window_free(&window);
    oteltop_thread_free(worker);
    oteltop_process_free(shop);
}

TestSuite(top_pprof, .init = setup, .fini = teardown);

/* ---- a reader of the format ---------------------------------------------- */

struct bytes {
    const uint8_t *at;
    const uint8_t *end;
};

static uint64_t varint(struct bytes *in)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        cr_assert(in->at < in->end && shift < 64);
        value |= (uint64_t)(*in->at & 0x7f) << shift;
        if (!(*in->at++ & 0x80))
            return value;
    }
}

/* The next field: its number, or 0 at the end. */
static uint64_t field(struct bytes *in, uint64_t *value, struct bytes *inner)
{
    if (in->at == in->end)
        return 0;

    const uint64_t key = varint(in);
    *value = varint(in);
    cr_assert((key & 7) == 0 || (key & 7) == 2);
    if ((key & 7) == 2) {
        cr_assert(*value <= (uint64_t)(in->end - in->at));
        *inner = (struct bytes){in->at, in->at + *value};
        in->at += *value;
    }
    return key >> 3;
}

static struct bytes profile;

/* A string of the table: valid until it was called four times more. */
static const char *string(uint64_t number)
{
    static char texts[4][128];
    static unsigned next;
    char *const text = texts[next++ % 4];
    struct bytes in = profile;
    struct bytes inner;
    uint64_t id;
    uint64_t value;

    while ((id = field(&in, &value, &inner)) > 0) {
        if (id == 6 && number-- == 0) {
            cr_assert(value < sizeof(texts[0]));
            (void)memcpy(text, inner.at, value);
            text[value] = '\0';
            return text;
        }
    }
    cr_assert(false, "no such string");
    abort();
}

/* A message of the profile, of this field, by the number in its field 1. */
static struct bytes by_number(unsigned wanted, uint64_t number)
{
    struct bytes in = profile;
    struct bytes inner;
    struct bytes own;
    struct bytes none;
    uint64_t id;
    uint64_t value;

    while ((id = field(&in, &value, &inner)) > 0) {
        own = inner;
        if (id == wanted && field(&own, &value, &none) == 1 && value == number)
            return own;
    }
    cr_assert(false, "no such message");
    abort();
}

static const char *frame(uint64_t location)
{
    struct bytes own = by_number(4, location);
    struct bytes line;
    uint64_t value;

    cr_assert_eq(field(&own, &value, &line), 4);
    cr_assert_eq(field(&line, &value, &own), 1);
    own = by_number(5, value);
    cr_assert_eq(field(&own, &value, &line), 2);
    return string(value);
}

static void print_label(FILE *out, struct bytes label)
{
    struct bytes none;
    uint64_t value;

    cr_assert_eq(field(&label, &value, &none), 1);
    (void)fprintf(out, " %s=", string(value));
    if (field(&label, &value, &none) == 2)
        (void)fputs(string(value), out);
    else
        (void)fprintf(out, "%" PRIu64, value);
}

static void print_sample(FILE *out, struct bytes sample)
{
    struct bytes inner;
    uint64_t value;

    for (uint64_t id; (id = field(&sample, &value, &inner)) > 0;) {
        if (id == 1)
            (void)fprintf(out, "<%s>", frame(value));
        else if (id == 2)
            (void)fprintf(out, " %" PRIu64, value);
        else
            print_label(out, inner);
    }
    (void)putc('\n', out);
}

/* All of it, a line for each sample. */
static char *print(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    struct bytes in = profile;
    struct bytes inner;
    uint64_t value;

    for (uint64_t id; (id = field(&in, &value, &inner)) > 0;) {
        if (id == 2)
            print_sample(out, inner);
        else if (id == 9)
            (void)fprintf(out, "at %" PRIu64 "\n", value);
        else if (id == 10)
            (void)fprintf(out, "for %" PRIu64 "\n", value);
    }
    (void)fclose(out);
    return text;
}

static int write_all(const char *names, char **text, size_t *size)
{
    struct oteltop_dimensions dimensions = by(names);
    FILE *const out = open_memstream(text, size);
    int error;

    cr_assert(out);
    error = oteltop_pprof_write(out, &window, &dimensions, 1234567890123456789);
    (void)fclose(out);
    oteltop_dimensions_free(&dimensions);
    return error;
}

static void expect_profile(const char *names, const char *expected)
{
    char *written = NULL;
    char *printed;
    size_t size = 0;

    cr_assert_eq(write_all(names, &written, &size), 0);
    profile = (struct bytes){(uint8_t *)written, (uint8_t *)written + size};
    cr_expect_str_eq(string(0), "");
    printed = print();
    cr_expect_str_eq(printed, expected);
    free(printed);
    free(written);
}

#define RESOURCE "service.name=shop host.name=build-7"
#define END      "at 1234567890123456789\nfor 2000000000\n"

/* ---- the tests ------------------------------------------------------------
 */

Test(top_pprof, frames_are_values_and_labels_tell_the_rest)
{
    struct oteltop_span *const cart = span_make(
        shop, 7,
        (const char *const[]){"http.route", "/cart", "user", "ann", NULL});

    shop->container = strdup("0123456789ab");
    shop->pod = strdup("shop-1");
    add(&window, worker, cart, 'R', 5000000);
    add(&window, worker, cart, 'R', 6000000);
    add(&window, worker, NULL, 'D', 0);
    expect_profile(
        "service,http.route",
        "<(no span)><shop> 1 0 1000 " RESOURCE " thread.name=worker "
        "thread.state=D container=0123456789ab pod=shop-1 thread.id=43 "
        "process.pid=42\n"
        "</cart><shop> 2 11000000 22002000 trace_id=" TRACE_7 " span_id=" SPAN_7
        " " RESOURCE " http.route=/cart user=ann "
        "thread.name=worker thread.state=R container=0123456789ab pod=shop-1 "
        "thread.id=43 process.pid=42\n" END);
}

Test(top_pprof, the_types_of_the_values_have_names)
{
    static const char *const expected[][3] = {{"samples", "count", ""},
                                              {"cpu", "nanoseconds", ""},
                                              {"wall", "nanoseconds", ""}};
    char *written = NULL;
    size_t size = 0;
    struct bytes in;
    struct bytes type;
    struct bytes none;
    uint64_t value;

    cr_assert_eq(write_all("service", &written, &size), 0);
    in = profile =
        (struct bytes){(uint8_t *)written, (uint8_t *)written + size};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(field(&in, &value, &type), 1);
        for (size_t j = 0; j < 2; j++) {
            cr_assert_eq(field(&type, &value, &none), j + 1);
            cr_expect_str_eq(string(value), expected[i][j]);
        }
    }
    free(written);
}

Test(top_pprof, without_samples_there_are_none)
{
    expect_profile("service,trace", END);
}

Test(top_pprof, a_process_without_a_context_has_samples)
{
    struct oteltop_process *const alone = process_make(7, NULL);
    struct oteltop_thread *const its = oteltop_thread_new(alone, 7, "app");

    add(&window, its, NULL, 'R', 1);
    expect_profile("service,trace",
                   "<(no trace)><(no context)> 1 1 1002 thread.name=app "
                   "thread.state=R thread.id=7 process.pid=7\n" END);
    oteltop_thread_free(its);
    oteltop_process_free(alone);
}

Test(top_pprof, text_is_utf8_and_stays_what_it_is_otherwise)
{
    struct oteltop_thread *const odd =
        oteltop_thread_new(shop, 44, "a\xff\xc3(;\n\"\\\xce\xb1");

    add(&window, odd, NULL, 'R', 5);
    expect_profile("thread",
                   "<a\xef\xbf\xbd\xef\xbf\xbd(;\n\"\\\xce\xb1 44> 1 5 "
                   "1010 " RESOURCE
                   " thread.name=a\xef\xbf\xbd\xef\xbf\xbd(;\n\"\\"
                   "\xce\xb1 thread.state=R thread.id=44 "
                   "process.pid=42\n" END);
    oteltop_thread_free(odd);
}

Test(top_pprof, no_frame_is_without_a_name)
{
    struct oteltop_span *const empty =
        span_make(shop, 7, (const char *const[]){"http.route", "", NULL});

    add(&window, worker, empty, 'R', 5);
    expect_profile("http.route",
                   "<(empty)> 1 5 1010 trace_id=" TRACE_7 " span_id=" SPAN_7
                   " " RESOURCE " http.route= thread.name=worker "
                   "thread.state=R thread.id=43 process.pid=42\n" END);
}

Test(top_pprof, wherever_memory_ends_it_says_so)
{
    char *written = NULL;
    size_t size = 0;
    int error = -ENOMEM;
    int calls = 0;

    add(&window, worker, span_make(shop, 7, NULL), 'R', 5);
    for (; error != 0; calls++) {
        struct oteltop_dimensions dimensions = by("service,thread");
        FILE *const out = open_memstream(&written, &size);

        cr_assert(calls < 1000);
        left = calls;
        error = oteltop_pprof_write(out, &window, &dimensions, 1);
        cr_expect_eq(error, was_short ? -ENOMEM : 0);
        was_short = false;
        left = -1;
        (void)fclose(out);
        free(written);
        oteltop_dimensions_free(&dimensions);
    }
    cr_expect_gt(calls, 20);
}
