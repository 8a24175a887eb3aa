/* SPDX-License-Identifier: Apache-2.0 */

/* The record of one thread. A second thread has an ordinary record. */

#include "demo/kit/scenes/scenes.h"
#include "demo/kit/stage/context.h"
#include "demo/kit/stage/worker.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum place {
    OWN,          /* in the thread's own memory */
    NOWHERE,      /* the pointer is NULL */
    ODD,          /* at an odd address */
    LOW,          /* in the first page, which is never mapped */
    UNMAPPED,     /* already unmapped when it is attached */
    END_OF_PAGE,  /* ends where unmapped memory begins */
    HEAD_AT_END,  /* the attributes are in unmapped memory */
    HEAD_CUT,     /* unmapped memory begins within the head */
    TWO_PAGES,    /* head and attributes in one page each */
    OTHERS_STACK, /* on the stack of another thread */
    FREED,        /* overwritten, as a heap overwrites freed memory */
};

struct record {
    enum place place;
    int valid; /* the byte `valid`, less 1 */
    uint16_t size;
    const char *attrs;
    size_t attrs_size;
    char missing;           /* 't': no trace id, 's': no span id, 'b': both */
    const char *answer;     /* NULL: the context */
    const char *attributes; /* expected; NULL: not judged */
};

/* Fills the bytes behind the given attributes with one long entry each. */
static void fill_attrs(uint8_t *attrs, const struct record *how)
{
    size_t at = how->attrs_size;

    memcpy(attrs, how->attrs, how->attrs_size);
    while (at + 2 <= how->size) {
        const size_t left = how->size - at - 2;
        const uint8_t length = left > 255 ? 255 : (uint8_t)left;

        attrs[at] = 0;
        attrs[at + 1] = length;
        memset(attrs + at + 2, 'x', length);
        at += 2 + (size_t)length;
    }
}

static void *map_pages(size_t count)
{
    void *const at =
        mmap(NULL, count * (size_t)getpagesize(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at != MAP_FAILED ? at : NULL;
}

/* Copies the record to its place: `from` holds it. */
static const void *place_record(const struct otelkit_record *from, size_t size,
                                enum place place)
{
    const size_t page = (size_t)getpagesize();
    uint8_t *const pages = map_pages(3);
    uint8_t *at = pages;

    if (!pages)
        return NULL;
    if (place == ODD)
        at = pages + 1;
    else if (place == END_OF_PAGE)
        at = pages + page - size;
    else if (place == HEAD_AT_END || place == TWO_PAGES)
        at = pages + page - sizeof(from->head);
    else if (place == HEAD_CUT)
        at = pages + page - 16;
    memcpy(at, from, size);
    if (place == END_OF_PAGE || place == HEAD_AT_END || place == HEAD_CUT)
        (void)munmap(pages + page, page);
    else if (place == UNMAPPED)
        (void)munmap(pages, 3 * page);
    else if (place == FREED)
        memset(at, 0xdd, size);
    return at;
}

static void attach_record(struct otelkit_worker *worker)
{
    const struct record *const how = worker->how;
    static struct otelkit_record own;
    const void *at = &own;

    otelkit_record_fill(&own.head, worker->number);
    own.head.valid = (uint8_t)(how->valid + 1);
    own.head.attrs_size = how->size;
    if (how->missing == 't' || how->missing == 'b')
        memset(own.head.trace_id, 0, sizeof(own.head.trace_id));
    if (how->missing == 's' || how->missing == 'b')
        memset(own.head.span_id, 0, sizeof(own.head.span_id));
    if (how->missing == 'b')
        own.head.trace_flags = 0;
    fill_attrs(own.attrs, how);
    if (how->place == NOWHERE)
        at = NULL;
    else if (how->place == LOW)
        at = (const void *)64;
    else if (how->place == OTHERS_STACK)
        at = memcpy(worker->shared, &own, sizeof(own.head) + how->size);
    else if (how->place != OWN)
        at = place_record(&own, sizeof(own.head) + how->size, how->place);
    *otelkit_slot() = at;
    otelkit_stage_at(worker->stage, "record", at);
    otelkit_expect_thread(worker->stage, worker->tid,
                          how->answer ? how->answer : "context", &own.head,
                          how->attributes);
}

static int set_record(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_worker odd, ordinary;
    uint8_t stack[1024] __attribute__((aligned(8)));
    int error = otelkit_publish_keys(stage);

    odd = (struct otelkit_worker){.stage = stage,
                                  .run = attach_record,
                                  .how = how,
                                  .number = 0x0123456789abcdef,
                                  .shared = stack};
    ordinary = (struct otelkit_worker){
        .stage = stage, .run = otelkit_worker_attach, .number = 0x4711};
    if (error == 0)
        error = otelkit_worker_start(&odd);
    if (error == 0)
        error = otelkit_worker_start(&ordinary);
    otelkit_expect_thread(stage, otelkit_tid(), "none", NULL, NULL);
    if (error != 0 || ((const struct record *)how)->place != OTHERS_STACK)
        return error;
    /* This thread never returns, so that its stack stays. */
    error = otelkit_stage_say(stage);
    if (error == 0) {
        for (;;)
            (void)pause();
    }
    return error;
}

#define RECORD(place_, valid_, ...)                                            \
    .set = set_record, .how = &(const struct record)                           \
    {                                                                          \
        .place = (place_), .valid = (valid_), __VA_ARGS__                      \
    }

/* The thread swaps two records, rewrites them, and detaches them, at full
 * speed. */
static void swap_records(struct otelkit_worker *worker)
{
    static _Thread_local struct otelctx_record_head records[2];

    otelkit_expect_paired(worker->stage, worker->tid);
    otelkit_worker_ready(worker);
    for (uint64_t n = worker->number;; n++) {
        struct otelctx_record_head *const next = &records[n % 2];

        otelkit_record_fill(next, n * UINT64_C(0x9e3779b97f4a7c15));
        atomic_signal_fence(memory_order_seq_cst);
        *otelkit_slot() = next;
        atomic_signal_fence(memory_order_seq_cst);
        if (n % 7 == 0)
            *otelkit_slot() = NULL;
    }
}

/* One record, not valid while it is written. */
static void rewrite_record(struct otelkit_worker *worker)
{
    static _Thread_local struct otelctx_record_head record;
    volatile uint8_t *const valid = &record.valid;

    otelkit_expect_paired(worker->stage, worker->tid);
    *otelkit_slot() = &record;
    otelkit_worker_ready(worker);
    for (uint64_t n = worker->number;; n++) {
        struct otelctx_record_head next;

        otelkit_record_fill(&next, n * UINT64_C(0x9e3779b97f4a7c15));
        *valid = 0;
        atomic_signal_fence(memory_order_seq_cst);
        memcpy(record.trace_id, next.trace_id, sizeof(next.trace_id));
        memcpy(record.span_id, next.span_id, sizeof(next.span_id));
        record.trace_flags = next.trace_flags;
        atomic_signal_fence(memory_order_seq_cst);
        *valid = 1;
        atomic_signal_fence(memory_order_seq_cst);
    }
}

static int set_swapping(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_worker workers[2];
    const bool rewrite = *(const bool *)how;
    int error = otelkit_publish_keys(stage);

    for (size_t i = 0; i < 2 && error == 0; i++) {
        workers[i] = (struct otelkit_worker){.stage = stage,
                                             .run = rewrite ? rewrite_record
                                                            : swap_records,
                                             .number = 1 + 1000 * i};
        error = otelkit_worker_start(&workers[i]);
    }
    return error;
}

#define FILLED(n, bytes)                                                       \
    .size = (n), .attrs = (bytes), .attrs_size = sizeof(bytes) - 1
#define ATTRS(bytes) FILLED(sizeof(bytes) - 1, bytes)
#define CART         ATTRS("\0\5/cart")
#define ROUTE        "{\"http.route\":\"/cart\"}"
#define LAYOUT       "OTEP 4947, Thread-Local Context Record"
#define SAMPLING     "OTEP 4947, Reading Protocol, Thread Sampling"
#define ON_STAGE                                                               \
    .answer = OTELKIT_CONTEXT, .resource = OTELKIT_SHOP,                       \
    .program = OTELKIT_EXPORTER

const struct otelkit_scene otelkit_records_scenes[] = {
    {OTELKIT_ABOUT("records/ordinary", "a record with one attribute",
                   "the context", LAYOUT),
     RECORD(OWN, 0, CART, .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/two-attributes", "a record with two attributes",
                   "both", LAYOUT),
     RECORD(OWN, 0, ATTRS("\1\2me\0\5/cart"),
            .attributes = "{\"http.route\":\"/cart\",\"user.id\":\"me\"}"),
     ON_STAGE},
    {OTELKIT_ABOUT("records/null", "a pointer that is NULL", "none", SAMPLING),
     RECORD(NOWHERE, 0, CART, .answer = "none"), ON_STAGE},
    {OTELKIT_ABOUT("records/valid-0", "a record with valid 0", "none", LAYOUT),
     RECORD(OWN, -1, CART, .answer = "none"), ON_STAGE},
    {OTELKIT_ABOUT("records/valid-2", "a record with valid 2", "none", LAYOUT),
     RECORD(OWN, 1, CART, .answer = "none"), ON_STAGE},
    {OTELKIT_ABOUT("records/valid-255", "a record with valid 255", "none",
                   LAYOUT),
     RECORD(OWN, 254, CART, .answer = "none"), ON_STAGE},
    {OTELKIT_ABOUT("records/size-0", "a record without attributes",
                   "the context", LAYOUT),
     RECORD(OWN, 0, ATTRS(""), .attributes = "{}"), ON_STAGE},
    {OTELKIT_ABOUT("records/size-612", "612 bytes of attributes", "the context",
                   LAYOUT),
     RECORD(OWN, 0, FILLED(612, "\1\2me")), ON_STAGE},
    {OTELKIT_ABOUT("records/size-613", "613 bytes of attributes",
                   "either: 640 bytes for all are recommended", LAYOUT),
     RECORD(OWN, 0, FILLED(613, "\1\2me"), .answer = "either"), ON_STAGE},
    {OTELKIT_ABOUT("records/size-65535", "65,535 bytes of attributes",
                   "either: 640 bytes for all are recommended", LAYOUT),
     RECORD(OWN, 0, FILLED(65535, "\1\2me"), .answer = "either"), ON_STAGE},
    {OTELKIT_ABOUT("records/entry-past-size",
                   "a last entry that ends past the size",
                   "the entries before it", LAYOUT),
     RECORD(OWN, 0, ATTRS("\0\5/cart\1\3me"), .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/entry-of-one-byte", "a last entry of one byte",
                   "the entries before it", LAYOUT),
     RECORD(OWN, 0, ATTRS("\0\5/cart\1"), .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/index-outside",
                   "an index that the key map does not have",
                   "the other attribute", LAYOUT),
     RECORD(OWN, 0, ATTRS("\2\2me\0\5/cart"), .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/index-255", "the index 255", "the other attribute",
                   LAYOUT),
     RECORD(OWN, 0, ATTRS("\0\5/cart\xff\2me"), .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/index-outside-twice",
                   "an index that the key map does not have, twice",
                   "the other attribute", LAYOUT),
     RECORD(OWN, 0, ATTRS("\2\2me\0\5/cart\2\2me"), .attributes = ROUTE),
     ON_STAGE},
    {OTELKIT_ABOUT("records/index-twice", "an index twice",
                   "the last occurrence", LAYOUT),
     RECORD(OWN, 0, ATTRS("\0\2/a\0\5/cart"), .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/value-empty", "a value of 0 bytes",
                   "the empty value", LAYOUT),
     RECORD(OWN, 0, ATTRS("\0\0"), .attributes = "{\"http.route\":\"\"}"),
     ON_STAGE},
    {OTELKIT_ABOUT("records/value-255", "a value of 255 bytes", "the value",
                   LAYOUT),
     RECORD(OWN, 0, FILLED(257, ""),
            .attributes =
                "{\"http.route\":\""
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}"),
     ON_STAGE},
    {OTELKIT_ABOUT("records/utf8", "a value that is not ASCII", "the value",
                   LAYOUT),
     RECORD(OWN, 0, ATTRS("\0\3/\xce\xb1"),
            .attributes = "{\"http.route\":\"/α\"}"),
     ON_STAGE},
    {OTELKIT_ABOUT("records/utf8-broken", "a value with the byte ff",
                   "either: the value may be left out", LAYOUT),
     RECORD(OWN, 0, ATTRS("\0\2/\xff"), .answer = "either"), ON_STAGE},
    {OTELKIT_ABOUT("records/no-trace", "a span without a trace",
                   "either: both must be set", LAYOUT),
     RECORD(OWN, 0, CART, .missing = 't', .answer = "either"), ON_STAGE},
    {OTELKIT_ABOUT("records/no-span", "a trace without a span",
                   "either: both must be set", LAYOUT),
     RECORD(OWN, 0, CART, .missing = 's', .answer = "either"), ON_STAGE},
    {OTELKIT_ABOUT("records/no-ids", "attributes without a trace",
                   "the attributes", LAYOUT),
     RECORD(OWN, 0, CART, .missing = 'b', .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/odd", "a record at an odd address",
                   "either: it must be even", LAYOUT),
     RECORD(ODD, 0, CART, .answer = "either", .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/low", "a pointer into the first page", "none",
                   SAMPLING),
     RECORD(LOW, 0, CART, .answer = "none"), ON_STAGE},
    {OTELKIT_ABOUT("records/unmapped", "a record that is unmapped", "none",
                   SAMPLING),
     RECORD(UNMAPPED, 0, CART, .answer = "none"), ON_STAGE},
    {OTELKIT_ABOUT("records/end-of-page",
                   "a record that ends where unmapped memory begins",
                   "the context", SAMPLING),
     RECORD(END_OF_PAGE, 0, CART, .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT(
         "records/end-of-page-short", "the same without attributes: 28 bytes",
         "the context: attributes are read only if there are any", SAMPLING),
     RECORD(END_OF_PAGE, 0, ATTRS(""), .attributes = "{}"), ON_STAGE},
    {OTELKIT_ABOUT("records/two-pages",
                   "attributes that begin in the next page", "the context",
                   SAMPLING),
     RECORD(TWO_PAGES, 0, CART, .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/attributes-unmapped",
                   "attributes in unmapped memory",
                   "either: the ids can be read", SAMPLING),
     RECORD(HEAD_AT_END, 0, CART, .answer = "either", .attributes = "{}"),
     ON_STAGE},
    {OTELKIT_ABOUT("records/head-unmapped",
                   "a record of which 16 bytes are mapped", "none", SAMPLING),
     RECORD(HEAD_CUT, 0, CART, .answer = "none"), ON_STAGE},
    {OTELKIT_ABOUT("records/others-stack",
                   "a record on the stack of another thread", "the context",
                   LAYOUT),
     RECORD(OTHERS_STACK, 0, CART, .attributes = ROUTE), ON_STAGE},
    {OTELKIT_ABOUT("records/freed", "a record that a heap has overwritten",
                   "none: valid is not 1", LAYOUT),
     RECORD(FREED, 0, CART, .answer = "none"), ON_STAGE},
    {OTELKIT_ABOUT("records/swapping", "records swapped at full speed",
                   "either: one of them, of one piece",
                   "OTEP 4947, Context Attachment"),
     .set = set_swapping, .how = &(const bool){false}, ON_STAGE},
    {OTELKIT_ABOUT("records/rewriting", "a record rewritten at full speed",
                   "either: one of them, of one piece",
                   "OTEP 4947, Context Attachment"),
     .set = set_swapping, .how = &(const bool){true}, ON_STAGE},
    {.about = {.name = NULL}},
};
