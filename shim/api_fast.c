/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The calls that a program makes a million times a second, in the cases that
 * make up almost all of these: what the slot holds is the thread's own record,
 * or nothing. There they do what thread.c does, store by store. In all other
 * cases, errors among them, they change nothing and leave it to api_thread.c.
 */

#define OTELCTX_LINK
#include "shim/otelctx.h"

#include "shim/api_thread.h"
#include "shim/context.h"
#include "shim/order.h"
#include "shim/thread_state.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/* Wherever the linker puts it, each begins with a line of cache. */
#define FAST OTELCTX_API __attribute__((aligned(64)))

typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef uint32_t half __attribute__((aligned(1), may_alias));
typedef uint16_t quarter __attribute__((aligned(1), may_alias));

/* What follows the ids in a record, as one word: little-endian, like the
 * machines that this is for. */
enum {
    ATTACHED = 1, /* `valid`, no attributes */
    FLAGS_SHIFT = 8
};
static_assert(offsetof(struct otelctx_record, trace_flags) ==
                  offsetof(struct otelctx_record, valid) + 1,
              "");
static_assert(offsetof(struct otelctx_record, attrs_size) ==
                  offsetof(struct otelctx_record, valid) + 2,
              "");

/* The thread's own record, and the slot, if that is where they are. */
struct fast {
    struct otelctx_record **slot;
    struct otelctx_thread *self;
};

static inline __attribute__((always_inline)) bool find(struct fast *f)
{
    const intptr_t slot = otelctx_thread_places.slot;

    if (!LIKELY(slot != OTELCTX_PLACE_UNKNOWN))
        return false;
    f->slot = otelctx_place_at(slot);
    f->self = otelctx_place_at(otelctx_thread_places.self);
    return true;
}

/* As in thread.c: the slot is looked at when no signal handler can change it
 * any more. One that pins just before is overruled. */
static inline __attribute__((always_inline)) bool begin(struct fast *f)
{
    if (!LIKELY(find(f) && f->self->state.special == 0))
        return false;
    otelctx_show(&f->self->state.writing, (uint8_t) true);
    return true;
}

static inline void end(const struct fast *f, uint32_t keys)
{
    otelctx_show(&f->self->state.word,
                 ((union otelctx_thread_state){.keys = keys}).word);
}

static inline void give_up(const struct fast *f)
{
    otelctx_show(&f->self->state.writing, (uint8_t) false);
}

FAST int otelctx_attach(const uint8_t trace_id[16], const uint8_t span_id[8],
                        uint8_t flags)
{
    const word *const trace = (const word *)trace_id;
    const uint64_t first = trace[0], second = trace[1];
    const uint64_t span = *(const word *)span_id;
    struct otelctx_record *own, *before;
    struct fast f;
    word *out;

    if (!LIKELY((first | second) != 0 && span != 0 && begin(&f)))
        return otelctx_attach_any(trace_id, span_id, flags);
    own = &f.self->own;
    before = *f.slot;
    if (!LIKELY(!before || before == own)) {
        give_up(&f);
        return otelctx_attach_any(trace_id, span_id, flags);
    }
    out = (word *)own->trace_id;
    otelctx_show(f.slot, (struct otelctx_record *)NULL);
    out[0] = first;
    out[1] = second;
    out[2] = span;
    *(half *)&own->valid = ATTACHED | (uint32_t)flags << FLAGS_SHIFT;
    otelctx_show(f.slot, own);
    end(&f, 0);
    return 0;
}

FAST int otelctx_detach(void)
{
    struct fast f;

    if (!LIKELY(find(&f) && *f.slot == &f.self->own &&
                f.self->state.special == 0))
        return otelctx_detach_any();
    otelctx_show(f.slot, (struct otelctx_record *)NULL);
    return 0;
}

/*
 * Copy a text, by overlapping words of the widest kind that it has room for.
 * Returns all of its bytes, or'ed: is any of them beyond ASCII?
 */
static inline uint64_t copy(uint8_t *to, const char *from, size_t size)
{
    uint64_t seen, last;

    if (size >= sizeof(word)) {
        seen = *(const word *)from;
        *(word *)to = seen;
        for (size_t at = sizeof(word); at + sizeof(word) < size;
             at += sizeof(word)) {
            const uint64_t middle = *(const word *)(from + at);

            *(word *)(to + at) = middle;
            seen |= middle;
        }
        last = *(const word *)(from + size - sizeof(word));
        *(word *)(to + size - sizeof(word)) = last;
        return seen | last;
    }
    if (size >= sizeof(half)) {
        seen = *(const half *)from;
        last = *(const half *)(from + size - sizeof(half));
        *(half *)to = (uint32_t)seen;
        *(half *)(to + size - sizeof(half)) = (uint32_t)last;
        return seen | last;
    }
    if (size >= sizeof(quarter)) {
        seen = *(const quarter *)from;
        last = *(const quarter *)(from + size - sizeof(quarter));
        *(quarter *)to = (uint16_t)seen;
        *(quarter *)(to + size - sizeof(quarter)) = (uint16_t)last;
        return seen | last;
    }
    if (size == 0)
        return 0;
    to[0] = (uint8_t)from[0];
    return to[0];
}

/* A key that the record does not have yet, with a value in ASCII. Its bytes
 * count for readers once the size does. */
FAST int otelctx_attr(uint8_t key, const char *value, size_t len)
{
    enum {
        HEAD = sizeof(quarter)
    };
    const uint64_t beyond_ascii = 0x8080808080808080;
    struct otelctx_thread *self;
    struct fast f;
    uint32_t keys;
    uint8_t *at;
    size_t size;

    if (!LIKELY(begin(&f)))
        return otelctx_attr_any(key, value, len);
    self = f.self;
    keys = self->state.keys;
    size = self->own.attrs_size;
    at = self->own.attrs + size;
    size += HEAD + len;
    if (!LIKELY(*f.slot == &self->own && (keys & otelctx_key_bit(key)) == 0 &&
                otelctx_context_has_key(key) && len <= OTELCTX_VALUE_MAX &&
                size <= sizeof(self->own.attrs) &&
                (copy(at + HEAD, value, len) & beyond_ascii) == 0)) {
        give_up(&f);
        return otelctx_attr_any(key, value, len);
    }
    *(quarter *)at = (uint16_t)(key | len << 8);
    otelctx_show(&self->own.attrs_size, (uint16_t)size);
    end(&f, keys | otelctx_key_bit(key));
    return 0;
}

/* See otelctx_thread_swap() for the order. */
FAST int otelctx_swap(struct otelctx_record *record,
                      struct otelctx_record **previous)
{
    const uintptr_t place = (uintptr_t)otelctx_thread_places.slot;
    struct otelctx_record **slot, *before, *interrupted;
    struct otelctx_thread *self;

    /* Unknown is odd, too. */
    if (!LIKELY((((uintptr_t)record | place) & 1) == 0))
        return otelctx_swap_any(record, previous);
    slot = otelctx_place_at((intptr_t)place);
    self = otelctx_place_at(otelctx_thread_places.self);
    before = *slot;
    interrupted = self->swapping;
    if (!LIKELY(before == self->swapped)) {
        if (before && before != &self->own)
            return otelctx_swap_any(record, previous);
        otelctx_show(&self->swapped, before);
    }
    otelctx_show(&self->swapping, record);
    otelctx_show(slot, record);
    otelctx_show(&self->swapped, record);
    otelctx_show(&self->swapping, interrupted);
    if (previous)
        *previous = before;
    return 0;
}
