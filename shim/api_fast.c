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
#define INLINE            static inline __attribute__((always_inline))

/* Wherever the linker puts it, each begins with a line of cache. */
#define FAST OTELCTX_API __attribute__((aligned(64)))

typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef uint32_t half __attribute__((aligned(1), may_alias));
typedef uint16_t quarter __attribute__((aligned(1), may_alias));

/* Where the places are unknown, the thread pointer, which no slot holds. To be
 * called before thread_slot(). */
INLINE struct otelctx_thread *thread_self(void)
{
    return otelctx_place_at(otelctx_load_acquire(&otelctx_thread_places.self));
}

INLINE bool is_known(const struct otelctx_thread *self)
{
    return (const void *)self != __builtin_thread_pointer();
}

INLINE struct otelctx_record **thread_slot(void)
{
    return otelctx_slot_behind(otelctx_thread_places.before_slot);
}

INLINE bool holds_own(const struct otelctx_thread *self)
{
    return (const void *)*thread_slot() == self;
}

INLINE bool holds_own_or_nothing(const struct otelctx_thread *self)
{
    if (LIKELY(!*thread_slot()))
        return LIKELY(is_known(self));
    return holds_own(self);
}

/* As in thread.c. A signal handler that pins just before is overruled. */
INLINE void begin(struct otelctx_thread *self)
{
    otelctx_show(&self->state.special, OTELCTX_THREAD_WRITES);
}

INLINE void end(struct otelctx_thread *self)
{
    otelctx_show(&self->state.special, 0);
}

FAST int otelctx_attach(const uint8_t trace_id[16], const uint8_t span_id[8],
                        uint8_t flags)
{
    const word *const trace = (const word *)trace_id;
    const uint64_t first = trace[0], second = trace[1];
    const uint64_t span = *(const word *)span_id;
    struct otelctx_thread *const self = thread_self();
    word *out;

    /* One by one, lest the compiler adds them up. */
    if (!LIKELY((first | second) != 0) || !LIKELY(span != 0) ||
        !LIKELY(holds_own_or_nothing(self)) ||
        !LIKELY(self->state.special == 0))
        return otelctx_attach_any(trace_id, span_id, flags);
    begin(self);
    out = (word *)self->own.trace_id;
    otelctx_show(thread_slot(), (struct otelctx_record *)NULL);
    out[0] = first;
    out[1] = second;
    out[2] = span;
    self->own.valid = 1;
    self->own.trace_flags = flags;
    self->own.attrs_size = 0;
    self->state.keys = 0;
    otelctx_show(thread_slot(), &self->own);
    end(self);
    return 0;
}

FAST int otelctx_detach(void)
{
    struct otelctx_thread *const self = thread_self();

    if (!LIKELY(holds_own(self) && self->state.special == 0))
        return otelctx_detach_any();
    otelctx_show(thread_slot(), (struct otelctx_record *)NULL);
    return 0;
}

/*
 * Copy a text of one to two words of a kind, by its first and its last, which
 * may overlap. Returns all of its bytes, or'ed: is any of them beyond ASCII?
 */
typedef uint64_t copy_function(uint8_t *to, const char *from, size_t size);

#define COPY(kind)                                                             \
    INLINE uint64_t copy_##kind(uint8_t *to, const char *from, size_t size)    \
    {                                                                          \
        const kind first = *(const kind *)from;                                \
        const kind last = *(const kind *)(from + size - sizeof(kind));         \
                                                                               \
        *(kind *)to = first;                                                   \
        *(kind *)(to + size - sizeof(kind)) = last;                            \
        return first | last;                                                   \
    }
COPY(word)
COPY(half)
COPY(quarter)

/* The same of any size. */
INLINE uint64_t copy_any(uint8_t *to, const char *from, size_t size)
{
    uint64_t seen = 0;

    if (size >= sizeof(word)) {
        for (size_t at = 0; at + sizeof(word) < size; at += sizeof(word))
            seen |= copy_word(to + at, from + at, sizeof(word));
        to += size - sizeof(word);
        from += size - sizeof(word);
        return seen | copy_word(to, from, sizeof(word));
    }
    if (size >= sizeof(half))
        return copy_half(to, from, size);
    if (size >= sizeof(quarter))
        return copy_quarter(to, from, size);
    if (size > 0)
        seen = to[0] = (uint8_t)from[0];
    return seen;
}

/* A key that the record does not have yet, with a value in ASCII. Its bytes
 * count for readers once the size does. */
INLINE int attr(uint32_t key, const char *value, size_t len,
                copy_function *copy)
{
    enum {
        HEAD = 2
    };
    const uint64_t beyond_ascii = 0x8080808080808080;
    struct otelctx_thread *const self = thread_self();
    uint32_t keys, more;
    uint8_t *at;
    size_t size;

    if (!LIKELY(holds_own(self) && self->state.special == 0))
        return otelctx_attr_any((uint8_t)key, value, len);
    begin(self);
    keys = self->state.keys;
    more = keys | otelctx_key_bit(key);
    at = self->own.attrs + self->own.attrs_size;
    size = HEAD + len + self->own.attrs_size;
    if (!LIKELY(more != keys && otelctx_context_has_key(key) &&
                len <= OTELCTX_VALUE_MAX && size <= sizeof(self->own.attrs) &&
                (copy(at + HEAD, value, len) & beyond_ascii) == 0)) {
        end(self);
        return otelctx_attr_any((uint8_t)key, value, len);
    }
    at[0] = (uint8_t)key;
    at[1] = (uint8_t)len;
    otelctx_show(&self->own.attrs_size, (uint16_t)size);
    self->state.keys = more;
    end(self);
    return 0;
}

static __attribute__((noinline)) int
attr_of_any_size(uint32_t key, const char *value, size_t len)
{
    return attr(key, value, len, copy_any);
}

FAST int otelctx_attr(uint8_t key, const char *value, size_t len)
{
    if (!LIKELY(len >= sizeof(word) && len <= 2 * sizeof(word)))
        return attr_of_any_size(key, value, len);
    return attr(key, value, len, copy_word);
}

/* See otelctx_thread_swap() for the order. */
FAST int otelctx_swap(struct otelctx_record *record,
                      struct otelctx_record **previous)
{
    struct otelctx_thread *const self = thread_self();
    struct otelctx_record **const slot = thread_slot();
    struct otelctx_record *before, *interrupted;

    if (!LIKELY(((uintptr_t)record & 1) == 0) || !LIKELY(is_known(self)))
        return otelctx_swap_any(record, previous);
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
