/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TEST_SLOT_H
#define OTELCTX_TEST_SLOT_H

/*
 * The slot of the calling thread: what it can hold, and what a reader sees
 * there, in words:
 *
 *     nothing                  the slot is NULL
 *     own B3 0=old 1=new       the thread's own record: ids of B, flags 3, and
 *                              the attributes by their key indexes
 *     own, not valid           a record whose `valid` is not 1
 *
 * The others are "shared", "program's" and "foreign"; "guest's" is one that the
 * program swaps in on top.
 */

#define OTELCTX_LINK
#include "shim/otelctx.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/thread.h"
#include "shim/thread_state.h"

/* The rows of design.md's table, "Thread context". */
enum slot {
    NOTHING,
    OWN,    /* attached */
    PINNED, /* own; written by the runtime that pinned it */
    SHARED, /* by all threads, from TRACEPARENT */
    PROGRAMS,
    FOREIGN, /* somebody else put it there */
};

static struct otelctx_record *own, *shared; /* shared: once it is in the slot */
static struct otelctx_record programs, guests, foreign, foreign_before;

/* All of an id is its letter; the letters' flags are 1. */
static inline struct otelctx_ids ids_of(char letter, uint8_t flags)
{
    struct otelctx_ids ids = {.trace_flags = flags};

    memset(ids.trace_id, letter, sizeof(ids.trace_id));
    memset(ids.span_id, letter, sizeof(ids.span_id));
    return ids;
}

/* A record with the attribute 0=old, written without our help. */
static inline void write_record(struct otelctx_record *record, char letter)
{
    memset(record->trace_id, letter, sizeof(record->trace_id));
    memset(record->span_id, letter, sizeof(record->span_id));
    record->trace_flags = 1;
    memcpy(record->attrs, "\0\3old", 5);
    record->attrs_size = 5;
    record->valid = 1;
}

static inline int attach(char letter, uint8_t flags)
{
    const struct otelctx_ids ids = ids_of(letter, flags);

    return otelctx_attach(ids.trace_id, ids.span_id, ids.trace_flags);
}

static inline int attr(uint8_t key, const char *value)
{
    return otelctx_attr(key, value, strlen(value));
}

/* The second word is what is taken for the slot where the places are unknown:
 * NULL, as there is where libc leaves it alone (musl and glibc on aarch64). */
static _Thread_local uint64_t no_slot[2];

/* For each test: the keys 0 and 1, and an empty slot. The calls of api_fast.c
 * are made, unless OTELCTX_TEST_SLOWLY is set: then it is as where the places
 * are unknown, and api_thread.c does it all. */
static inline void slot_begin(void)
{
    cr_assert_eq(otelctx_key("zero"), 0);
    cr_assert_eq(otelctx_key("one"), 1);
    cr_assert_neq(otelctx_thread_places.self, 0);
    if (getenv("OTELCTX_TEST_SLOWLY"))
        otelctx_thread_places = (struct otelctx_thread_places){
            .before_slot =
                (uintptr_t)no_slot - (uintptr_t)__builtin_thread_pointer()};
    cr_assert_eq(attach('?', 0), 0);
    own = otel_thread_ctx_v1;
    cr_assert(own);
    cr_assert_eq(otelctx_detach(), 0);
    write_record(&programs, 'A');
    write_record(&guests, 'G');
    memset(&foreign, 0xf0, sizeof(foreign));
    write_record(&foreign, 'A');
    foreign_before = foreign;
}

/* Have the slot hold ids of A, flags 1 and, unless shared, 0=old. */
static inline void slot_hold(enum slot what)
{
    const struct otelctx_ids ids = ids_of('A', 1);

    switch (what) {
    case NOTHING:
        break;
    case OWN:
        cr_assert_eq(attach('A', 1), 0);
        cr_assert_eq(attr(0, "old"), 0);
        break;
    case PINNED:
        cr_assert_eq(otelctx_pin(), own);
        write_record(own, 'A');
        break;
    case SHARED: /* where later threads cannot have it, this one does */
        (void)otelctx_thread_share(&ids, true, (size_t)getpagesize());
        shared = otel_thread_ctx_v1;
        cr_assert_neq(shared, own);
        break;
    case PROGRAMS:
        cr_assert_eq(otelctx_swap(&programs, NULL), 0);
        break;
    case FOREIGN:
        otel_thread_ctx_v1 = &foreign;
        break;
    }
}

static inline const char *slot_name(const struct otelctx_record *record)
{
    if (record == own)
        return "own";
    if (record == shared)
        return "shared";
    if (record == &programs)
        return "program's";
    if (record == &guests)
        return "guest's";
    return record == &foreign ? "foreign" : "somewhere else";
}

/* OTEP 4947, "Reading Protocol". It calls nothing that a handler may not. */
static inline const char *slot_seen(void)
{
    static char text[1024];
    const struct otelctx_record *const r = otel_thread_ctx_v1;
    char *end;

    if (!r)
        return "nothing";
    end = stpcpy(text, slot_name(r));
    if (r->valid != 1) {
        (void)stpcpy(end, ", not valid");
        return text;
    }
    *end++ = ' ';
    *end++ = (char)(r->trace_id[0] ? r->trace_id[0] : '-');
    *end++ = (char)('0' + r->trace_flags);
    for (size_t at = 0; at < r->attrs_size; at += 2u + r->attrs[at + 1]) {
        *end++ = ' ';
        *end++ = (char)('0' + r->attrs[at]);
        *end++ = '=';
        end = mempcpy(end, &r->attrs[at + 2], r->attrs[at + 1]);
    }
    *end = '\0';
    return text;
}

#endif
