/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_THREAD_SLOT_LAYOUT_H
#define OTELCTX_THREAD_SLOT_LAYOUT_H

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
                };
                uint32_t pinned_or_writing; /* to test both at once */
            };
        };
        uint64_t all;
    };
};
enum {
    OTELCTX_THREAD_WRITING = 1 << 8 /* `writing` in pinned_or_writing */
};
static_assert(offsetof(struct otelctx_thread_state, writing) ==
                  offsetof(struct otelctx_thread_state, pinned_or_writing) + 1,
              "");
static_assert(offsetof(struct otelctx_thread_state, pinned_or_writing) == 4,
              "");

/* If this bit of key_bits is clear, the record does not have the key. 256 keys
 * share 32 bits. */
static inline uint32_t otelctx_key_bit(uint32_t key)
{
    return (uint32_t)1 << key % 32;
}

struct otelctx_thread {
    struct otelctx_record own; /* the first 64 bytes share one cache line */
    /* The program's record that is in the slot, and the one that is about to
     * be. Before and after each instruction of the shim the slot equals one of
     * these, NULL, &own or the record that all threads share: any other record
     * is that of another writer. */
    struct otelctx_record *swapped, *swapping;
    struct otelctx_thread_state state;
    /* The rest is for other storages than TLS. */
    struct otelctx_record *hidden_slot; /* in place of the one of TLS */
    struct otelctx_ring_thread ring;
    union {
        struct {
            uint8_t showing; /* the other storages are being written */
            uint8_t changed; /* and the slot has changed since that began */
        };
        uint16_t showing_and_changed; /* both, to set with one store */
    };
};
enum {
    OTELCTX_SHOWING = 1 /* only `showing`, in showing_and_changed */
};
static_assert(offsetof(struct otelctx_thread, showing) ==
                  offsetof(struct otelctx_thread, showing_and_changed),
              "");

/* The two thread-local variables: the slot, and the shim's own state. */
extern _Thread_local struct otelctx_record *otel_thread_ctx_v1;
extern _Thread_local struct otelctx_thread otelctx_thread_self
    __attribute__((visibility("hidden")));

/*
 * Their offsets from the thread pointer. All are 0 until the shim has started;
 * and for ever if TLS is dynamic, where the offsets differ from thread to
 * thread. `self` also stays 0 if there is a storage besides TLS: api/
 * thread_fast.c has its fastest path for TLS alone.
 *
 * While they are 0, the addresses that api/thread_fast.c computes from them are
 * wrong: the thread pointer for otelctx_thread_self, and for the slot the word
 * after the one that it points at, which belongs to libc (the DTV, or unused).
 * thread_fast.c then writes to neither: it takes the thread pointer as
 * "unknown" and calls thread_slow.c, and that word never equals the thread
 * pointer.
 */
struct otelctx_tls_offsets {
    uint64_t before_slot; /* of the 8 bytes before the slot in use */
    uint64_t self;        /* of otelctx_thread_self, if TLS is alone */
    uint64_t any_self;    /* the same, whatever storage is on */
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

#endif
