/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the shim stores for each thread, and where in TLS. slot.c handles every
 * case; api/thread_fast.c handles the most frequent ones, where TLS is the only
 * storage. */

#include <assert.h>
#include <stddef.h>

#include "config/options.h"
#include "shim/base/tls_offset.h"
#include "shim/thread/record.h"
#include "shim/thread/ring.h"

/* The state of a thread's own record. One word, so that one store changes all
 * of it. */
struct otelctx_thread_state {
    union {
        struct {
            uint32_t key_bits; /* otelctx_key_bit() of every key in the record;
                                  bits of other keys may be set as well */
            union {
                struct {
                    uint8_t pinned;  /* by otelctx_pin(): hidden with `valid`,
                                        not with the slot */
                    uint8_t writing; /* a change is under way: a signal handler
                                        must not begin another one */
                    /* For other storages than TLS. */
                    uint8_t showing; /* they are being written */
                    uint8_t changed; /* the slot changed while `showing` */
                };
                uint16_t pinned_or_writing; /* to test two at once */
                uint32_t flags;             /* to test all four at once */
            };
        };
        uint64_t all;
    };
};
enum {
    OTELCTX_THREAD_WRITING = 1 << 8 /* only `writing`, in `flags` */
};
static_assert(offsetof(struct otelctx_thread_state, flags) == 4, "");
static_assert(offsetof(struct otelctx_thread_state, writing) == 5, "");

/* If this bit of key_bits is clear, the record does not have the key. 256 keys
 * share 32 bits. */
static inline uint32_t otelctx_key_bit(uint32_t key)
{
    return (uint32_t)1 << key % 32;
}

struct otelctx_thread {
    /* `swapped` is the program's record in the slot, `swapping` the one that a
     * call is about to store there; they differ only during that call. At every
     * instruction of the shim the slot is one of these two, NULL, &own or the
     * record that all threads share: any other record is another writer's. */
    struct otelctx_record *swapping, *swapped;
    struct otelctx_thread_state state;
    /* For other storages than TLS. */
    struct otelctx_record *hidden_slot; /* in place of the one of TLS */
    struct otelctx_ring_thread ring;

    struct otelctx_record own;
};

/* The two thread-local variables: the slot, and the shim's own state. */
extern _Thread_local struct otelctx_record *otel_thread_ctx_v1;
extern _Thread_local struct otelctx_thread otelctx_thread_self
    __attribute__((visibility("hidden")));

/* Both variables as they lie in TLS, if the slot in use is this object's. The
 * fields that the frequent calls use come first: they fit in two cache lines,
 * and their offsets in one byte of an instruction. */
struct otelctx_thread_block {
    struct otelctx_record *slot;
    struct otelctx_thread self;
};
static_assert(offsetof(struct otelctx_thread_block, self.own) == 64,
              "the head of the record is not in one cache line");
static_assert(sizeof(struct otelctx_thread_block) % 64 == 0,
              "some readers take the size of PT_TLS for the distance to the "
              "thread pointer, without rounding it up to the alignment");

/*
 * Their offsets from the thread pointer. All are 0 until the shim has started;
 * and for ever if TLS is dynamic, where the offsets differ from thread to
 * thread. `block` also stays 0 if the slot in use is another module's, and if
 * there is a storage besides TLS: api/thread_fast.c has its fastest path for
 * TLS alone.
 *
 * While they are 0, the addresses that api/thread_fast.c computes from them are
 * wrong: the block and otelctx_thread_self begin at the thread pointer, and the
 * slot is the word at the thread pointer or the one after it, which belong to
 * libc. thread_fast.c then writes to none of them, but calls thread_slow.c: it
 * takes the thread pointer as "unknown". Neither word ever points to where the
 * thread's own record would be.
 */
struct otelctx_tls_offsets {
    uint64_t before_slot; /* of the 8 bytes before the slot in use */
    uint64_t block;       /* of struct otelctx_thread_block, if TLS is alone */
    uint64_t any_self;    /* of otelctx_thread_self, whatever storage is on */
};

static inline struct otelctx_record **otelctx_slot_after(uint64_t before_slot)
{
    return (struct otelctx_record **)otelctx_tls_offset_at(before_slot) + 1;
}
extern struct otelctx_tls_offsets otelctx_tls_offsets
    __attribute__((visibility("hidden")));

/* The addresses of the calling thread's two variables. */
struct otelctx_variables {
    struct otelctx_record **slot; /* in the storages that are on */
    struct otelctx_thread *self;
};
struct otelctx_variables otelctx_thread_variables(void);

/* Which storages are on, bits of enum otelctx_thread_storage: without TLS, the
 * slot is one that no reader knows. Call before any thread uses its slot. */
void otelctx_thread_use_storage(unsigned storage);

/* Read the slot once, so that its TLS descriptor is resolved before a reader or
 * a signal handler uses it. */
void otelctx_thread_resolve_slot(void);

/* Store the TLS offsets, if they can be known. */
void otelctx_thread_cache_tls_offsets(void);

/* Is the slot that readers look for this object's, and not another module's of
 * the same name? */
bool otelctx_thread_slot_is_ours(void);
