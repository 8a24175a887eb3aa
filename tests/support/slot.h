/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The slot of the calling thread, the variable otel_thread_ctx_v1: what it can
 * contain, and what a reader sees there, in words:
 *
 *     nothing                  the slot is NULL
 *     own B3 0=old 1=new       the thread's own record: ids of B, flags 3, and
 *                              the attributes by their key indexes
 *     own, not valid           a record whose `valid` is not 1
 *
 * The other records are "shared", "program's" and "foreign"; "guest's" is a
 * second record of the program, which tests swap in and out.
 *
 * OTELCTX_THREAD_STORAGE, which meson.build sets, may turn other storages on.
 * If one of them has other ids than the slot, the words end in ", not in the
 * ring" or ", not in the profiler's".
 */

#define OTELCTX_LINK
#include "shim/otelctx.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/start/watch.h"
#include "shim/thread/profiler.h"
#include "shim/thread/ring.h"
#include "shim/thread/slot.h"
#include "shim/thread/slot_layout.h"
#include "shim/thread/storage.h"

/* The rows of design.md's table, "Thread context". */
enum slot {
    NOTHING,
    OWN,    /* attached */
    PINNED, /* own; written by the runtime that pinned it */
    SHARED, /* from TRACEPARENT, the same record for all threads */
    PROGRAMS,
    FOREIGN, /* a record of another writer */
};

/* The addresses of these records; `shared` is NULL until it was in the slot. */
static struct otelctx_record *own, *shared;
static struct otelctx_record programs, guests, foreign, foreign_before;

/* Ids of which each byte is the letter. */
static inline struct otelctx_ids ids_of(char letter, uint8_t flags)
{
    struct otelctx_ids ids = {.trace_flags = flags};

    memset(ids.trace_id, letter, sizeof(ids.trace_id));
    memset(ids.span_id, letter, sizeof(ids.span_id));
    return ids;
}

/* Write a record with flags 1 and the attribute 0=old, without the shim. */
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

/* The second word is what thread_fast.c reads as the slot while the TLS offsets
 * are unknown: see otelctx_tls_offsets. Here it is NULL, as on aarch64, where
 * libc does not use that word. In .tbss it would come between the shim's
 * two variables: see struct otelctx_thread_block. */
static _Thread_local uint64_t no_slot[2] __attribute__((section(".tdata")));

/* The slot that the shim uses: without TLS, one that no reader knows. */
static inline struct otelctx_record **slot_place(void)
{
    return otelctx_thread_variables().slot;
}

static inline bool slot_is_on(unsigned storage)
{
    return otelctx_storage_bits & storage;
}

/* Before each test: register the keys 0 and 1, and empty the slot. If
 * OTELCTX_TEST_SLOWLY is set, make the TLS offsets unknown, so that
 * thread_slow.c serves every call. */
static inline void slot_begin(void)
{
    otelctx_watch_cancel(); /* the fast paths are taken from this call on */
    cr_assert_gt(otelctx_abi(), 0);
    if (slot_is_on(OTELCTX_STORAGE_TLS)) {
        cr_assert_eq(otelctx_key("zero"), 0);
        cr_assert_eq(otelctx_key("one"), 1);
    }
    cr_assert_neq(otelctx_tls_offsets.any_self, 0);
    cr_assert_eq(otelctx_tls_offsets.block == 0, otelctx_storage_has_others());
    if (getenv("OTELCTX_TEST_SLOWLY"))
        otelctx_tls_offsets = (struct otelctx_tls_offsets){
            .before_slot =
                (uintptr_t)no_slot - (uintptr_t)__builtin_thread_pointer()};
    cr_assert_eq(attach('?', 0), 0);
    own = *slot_place();
    cr_assert(own);
    cr_assert_eq(otelctx_detach(), 0);
    write_record(&programs, 'A');
    write_record(&guests, 'G');
    memset(&foreign, 0xf0, sizeof(foreign));
    write_record(&foreign, 'A');
    foreign_before = foreign;
}

/* Attach a record with ids of A, flags 1 and, unless shared, 0=old. */
static inline void slot_hold(enum slot what)
{
    const struct otelctx_ids ids = ids_of('A', 1);

    switch (what) {
    case NOTHING:
        break;
    case OWN:
        cr_assert_eq(attach('A', 1), 0);
        if (!slot_is_on(OTELCTX_STORAGE_TLS))
            write_record(own, 'A');
        else
            cr_assert_eq(attr(0, "old"), 0);
        break;
    case PINNED:
        cr_assert_eq(otelctx_pin(), own);
        write_record(own, 'A');
        break;
    case SHARED: /* this thread gets it, even if later threads cannot */
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

/* OTEP 4947, "Reading Protocol". Async-signal-safe. */
static inline const char *slot_seen_in_tls(void)
{
    static char text[1024];
    const struct otelctx_record *const r = *slot_place();
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

/* Has the thread's slot of the ring the ids whose bytes are all this one? */
static inline bool ring_has(uint8_t byte)
{
    const uint64_t id = byte * UINT64_C(0x0101010101010101);
    struct otelctx_numbers ids;

    return otelctx_ring_get((uint32_t)gettid(), &ids) == 0 &&
           ids.trace_high == id && ids.trace_low == id && ids.span == id;
}

/* Until the first call, the variable is all zero. */
static inline bool profiler_has(uint8_t byte)
{
    const uint64_t id = byte * UINT64_C(0x0101010101010101);

    return context_tls_v1.span_id == id && context_tls_v1.root_span_id == id &&
           context_tls_v1.checksum == otelctx_profiler_checksum(id, id);
}

/* Do the other storages not know what is in the slot? Records that the program
 * or another writer changes itself are in TLS only. */
static inline bool slot_is_of_tls_only(void)
{
    struct otelctx_ids ids;

    return otelctx_thread_variables().self->state.pinned ||
           otelctx_thread_get(&ids) == -EBUSY;
}

static inline const char *slot_seen(void)
{
    static char text[1100];
    const struct otelctx_record *const r = *slot_place();
    const uint8_t byte = r && r->valid == 1 ? r->trace_id[0] : 0;
    char *const end = stpcpy(text, slot_seen_in_tls());

    if (slot_is_of_tls_only())
        return text;
    if (slot_is_on(OTELCTX_STORAGE_RING) && !ring_has(byte))
        (void)stpcpy(end, ", not in the ring");
    if (slot_is_on(OTELCTX_STORAGE_PROFILER) && !profiler_has(byte))
        (void)stpcpy(end, ", not in the profiler's");
    return text;
}
