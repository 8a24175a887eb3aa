/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_THREAD_STATE_H
#define OTELCTX_THREAD_STATE_H

/* What a thread keeps of its context, and where that is: thread.c acts on it in
 * all cases, api_fast.c in the most frequent ones. */

#include <assert.h>
#include <stddef.h>

#include "shim/place.h"
#include "shim/record.h"

/* The state of a thread's own record. */
struct otelctx_thread_state {
    uint32_t keys; /* a bit for each in the record, or for more */
    union {
        struct {
            uint8_t pinned;  /* readers go by its `valid` */
            uint8_t writing; /* a change is under way; a signal handler must
                                not begin another one */
        };
        uint32_t special; /* either of the two */
    };
};
enum {
    OTELCTX_THREAD_WRITES = 1 << 8 /* as `special` */
};
static_assert(offsetof(struct otelctx_thread_state, writing) ==
                  offsetof(struct otelctx_thread_state, special) + 1,
              "");

/* Where the bit is not set the key is new; 256 keys share 32 of them. */
static inline uint32_t otelctx_key_bit(uint32_t key)
{
    return (uint32_t)1 << key % 32;
}

struct otelctx_thread {
    struct otelctx_record own; /* one line of cache, if it is short */
    /* The program's record in the slot, and the one that is about to be: at
     * every instruction the slot is one of them, NULL, own or shared. */
    struct otelctx_record *swapped, *swapping;
    struct otelctx_thread_state state;
};

/* The variable of OTEP 4947, and what is behind it. */
extern _Thread_local struct otelctx_record *otel_thread_ctx_v1;
extern _Thread_local struct otelctx_thread otelctx_thread_self
    __attribute__((visibility("hidden")));

/* Of both, from the thread pointer. All zero until the shim is at work, and for
 * ever where the distance is not the same in all threads: then the slot is
 * taken to be the word behind the one that the thread pointer points at, which
 * belongs to libc (the DTV, or nothing at all), and never holds that pointer.
 */
struct otelctx_thread_places {
    uint64_t before_slot; /* a word before it */
    uint64_t self;        /* 0: neither is known */
};

static inline struct otelctx_record **otelctx_slot_behind(uint64_t place)
{
    return (struct otelctx_record **)otelctx_place_at(place) + 1;
}
extern struct otelctx_thread_places otelctx_thread_places
    __attribute__((visibility("hidden")));

#endif
