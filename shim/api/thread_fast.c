/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The exported functions that a program may call a million times a second. Here
 * they handle the most frequent case: the slot is NULL or contains the thread's
 * own record, and the arguments are simple and valid. They then make the same
 * stores as thread/slot.c, in the same order. In every other case, errors
 * included, they call thread_slow.c. Attach and detach have a second fast path,
 * for other storages than TLS.
 */

#define OTELCTX_LINK
#include "config/traceparent.h"
#include "shim/api/thread_slow.h"
#include "shim/base/order.h"
#include "shim/otelctx.h"
#include "shim/process/context.h"
#include "shim/thread/slot_layout.h"
#include "shim/thread/storage.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define INLINE            static inline __attribute__((always_inline))

/* Each function starts a cache line, so that its speed does not depend on where
 * the linker places it. */
#define QUICK __attribute__((aligned(64), noinline))
#define FAST  OTELCTX_API __attribute__((aligned(64)))

typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef uint32_t half __attribute__((aligned(1), may_alias));
typedef uint16_t quarter __attribute__((aligned(1), may_alias));

INLINE struct otelctx_record **thread_slot(void)
{
    return otelctx_slot_after(otelctx_tls_offsets.before_slot);
}

INLINE bool holds_own(const struct otelctx_thread *self)
{
    return *thread_slot() == &self->own;
}

/* As in slot.c. A pin by a signal handler just before is lost. */
INLINE void begin_writing(struct otelctx_thread *self)
{
    otelctx_store_visible(&self->state.flags, (uint32_t)OTELCTX_THREAD_WRITING);
}

INLINE void give_up_writing(struct otelctx_thread *self)
{
    otelctx_store_visible(&self->state.flags, (uint32_t)0);
}

/* With one store: the record has these keys now. */
INLINE void end_writing(struct otelctx_thread *self, uint32_t key_bits)
{
    otelctx_store_visible(&self->state.all, (uint64_t)key_bits);
}

/* Write the thread's own record, which is hidden from readers. As few stores as
 * possible, because some cores make no more than one in a cycle. */
INLINE void write_own(struct otelctx_record *own, uint64_t first,
                      uint64_t second, uint64_t span, uint8_t flags)
{
    const uint32_t known_flags = flags & OTELCTX_TRACE_FLAGS;
    word *const out = (word *)own->trace_id;

    out[0] = first;
    out[1] = second;
    out[2] = span;
    /* valid 1, trace_flags, attrs_size 0 */
    *(half *)&own->valid = 1 | known_flags << 8;
}

/* ---- Where other storages than TLS are on ---- */

/* The calling thread's state; NULL if its address is unknown, or this is a
 * signal handler that interrupted a call which writes to it. */
INLINE struct otelctx_thread *writable_self(void)
{
    const uint64_t offset = otelctx_load_acquire(&otelctx_tls_offsets.any_self);
    struct otelctx_thread *const self = otelctx_tls_offset_at(offset);

    return LIKELY(otelctx_storage_has_others()) && LIKELY(offset != 0) &&
                   LIKELY(self->state.pinned_or_writing == 0) &&
                   LIKELY(!self->state.showing)
               ? self
               : NULL;
}

/* As otelctx_storage_show(), with ids that are known; `showing` is set before
 * the slot is, so that no change by a signal handler goes unseen. Returns false
 * if something unusual happened: then the call is made once more, slowly. */
INLINE bool show(struct otelctx_thread *self, struct otelctx_record *record,
                 struct otelctx_numbers ids)
{
    bool is_shown;

    otelctx_store_visible(&self->state.showing, (uint8_t) true);
    otelctx_store_visible(thread_slot(), record);
    is_shown = otelctx_storage_show_ids(self, &ids);
    otelctx_store_visible(&self->state.showing, (uint8_t) false);
    return LIKELY(is_shown) && LIKELY(!self->state.changed);
}

QUICK int otelctx_attach_elsewhere(const uint8_t trace_id[16],
                                   const uint8_t span_id[8], uint8_t flags)
{
    const word *const trace = (const word *)trace_id;
    const uint64_t first = trace[0], second = trace[1];
    const uint64_t span = *(const word *)span_id;
    struct otelctx_thread *const self = writable_self();
    bool is_shown;

    if (!LIKELY((first | second) != 0) || !LIKELY(span != 0) || !self ||
        !(LIKELY(!*thread_slot()) || LIKELY(holds_own(self))))
        return otelctx_attach_slow(trace_id, span_id, flags);
    begin_writing(self);
    if (!LIKELY(!*thread_slot()))
        otelctx_store_visible(thread_slot(), (struct otelctx_record *)NULL);
    write_own(&self->own, first, second, span, flags);
    is_shown = show(self, &self->own,
                    (struct otelctx_numbers){__builtin_bswap64(first),
                                             __builtin_bswap64(second),
                                             __builtin_bswap64(span)});
    end_writing(self, 0);
    return LIKELY(is_shown) ? 0 : otelctx_attach_slow(trace_id, span_id, flags);
}

QUICK static int detach_elsewhere(void)
{
    struct otelctx_thread *const self = writable_self();

    if (!self || !LIKELY(holds_own(self)) ||
        !show(self, NULL, (struct otelctx_numbers){0}))
        return otelctx_detach_slow();
    return 0;
}

/* ---- Where TLS is the only one ---- */

/* The calling thread's two variables; at the thread pointer if the TLS offsets
 * are unknown (see otelctx_tls_offsets). */
INLINE struct otelctx_thread_block *thread_block(void)
{
    return otelctx_tls_offset_at(
        otelctx_load_acquire(&otelctx_tls_offsets.block));
}

/*
 * Are they known? On x86-64 the callers need not ask: the word at the thread
 * pointer points to itself, and the next one to the DTV (psABI, "Thread-Local
 * Storage"). So what they take for the slot is neither NULL nor the address of
 * the thread's own record, nor equal to what they take for `swapping`.
 */
INLINE bool is_known(const struct otelctx_thread_block *block)
{
#ifdef __x86_64__
    static_assert(offsetof(struct otelctx_thread_block, self.swapping) == 8,
                  "where the address of the DTV is");
    (void)block;
    return true;
#else
    return (const void *)block != __builtin_thread_pointer();
#endif
}

/* Can these ids replace what is attached by nothing but a few stores? */
INLINE bool can_attach(const struct otelctx_thread_block *block, uint64_t trace,
                       uint64_t span)
{
    /* One by one: the compiler would evaluate a single LIKELY of all of them
     * without branches. */
    return LIKELY(trace != 0) && LIKELY(span != 0) && LIKELY(is_known(block)) &&
           (LIKELY(!block->slot) || LIKELY(block->slot == &block->self.own)) &&
           LIKELY(block->self.state.flags == 0);
}

/* Hide the thread's own record from readers, to write it. */
INLINE void begin_attaching(struct otelctx_thread_block *block)
{
    begin_writing(&block->self);
    if (!LIKELY(!block->slot))
        otelctx_store_visible(&block->slot, (struct otelctx_record *)NULL);
}

/* Attach a trace. Returns false, and has changed nothing, where that takes more
 * than this. */
INLINE bool attach_own(uint64_t first, uint64_t second, uint64_t span,
                       uint8_t flags)
{
    struct otelctx_thread_block *const block = thread_block();
    struct otelctx_thread *const self = &block->self;

    if (!can_attach(block, first | second, span))
        return false;
    begin_attaching(block);
    write_own(&self->own, first, second, span, flags);
    otelctx_store_visible(&block->slot, &self->own);
    end_writing(self, 0);
    return true;
}

FAST int otelctx_attach(const uint8_t trace_id[16], const uint8_t span_id[8],
                        uint8_t flags)
{
    const word *const trace = (const word *)trace_id;

    return LIKELY(attach_own(trace[0], trace[1], *(const word *)span_id, flags))
               ? 0
               : otelctx_attach_elsewhere(trace_id, span_id, flags);
}

FAST int otelctx_attach64(uint64_t span_id, uint64_t root_span_id)
{
    return LIKELY(attach_own(0, __builtin_bswap64(root_span_id),
                             __builtin_bswap64(span_id), 0))
               ? 0
               : otelctx_attach64_slow(span_id, root_span_id);
}

FAST int otelctx_detach(void)
{
    struct otelctx_thread_block *const block = thread_block();

    if (!LIKELY(block->slot == &block->self.own) ||
        !LIKELY(block->self.state.flags == 0))
        return detach_elsewhere();
    otelctx_store_visible(&block->slot, (struct otelctx_record *)NULL);
    return 0;
}

FAST int otelctx_get(struct otelctx_ids *out)
{
    const uint64_t offset = otelctx_load_acquire(&otelctx_tls_offsets.any_self);
    const struct otelctx_thread *const self = otelctx_tls_offset_at(offset);

    if (!LIKELY(holds_own(self)) || !LIKELY(self->own.valid == 1) ||
        !LIKELY(otelctx_storage_bits != 0))
        return otelctx_get_slow(out);
    __builtin_memcpy(out->trace_id, self->own.trace_id, sizeof(out->trace_id));
    __builtin_memcpy(out->span_id, self->own.span_id, sizeof(out->span_id));
    out->trace_flags = self->own.trace_flags;
    return 0;
}

/*
 * Copy `size` bytes, which are one to two integers of a type, as the first and
 * the last integer; the two may overlap. Returns the bitwise or of all that was
 * copied, where a set top bit of a byte means a byte that is not ASCII.
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

/* The same for any size. */
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

enum {
    HEAD = 2, /* bytes before an attribute's value: key index, length */
    ATTRS_MAX = sizeof(((struct otelctx_record *)0)->attrs),
    ATTRS_UNUSUAL = ATTRS_MAX + 1
};
/* In a word of text: some byte is not ASCII. */
static const uint64_t not_ascii = 0x8080808080808080;

/* Append an attribute: the key is new in the record, the value is ASCII.
 * Readers see the attribute from the store to attrs_size on. */
INLINE int append(uint32_t key, const char *value, size_t len,
                  copy_function *copy)
{
    struct otelctx_thread_block *const block = thread_block();
    struct otelctx_thread *const self = &block->self;
    uint32_t key_bits, new_bits;
    uint8_t *at;
    size_t size;

    if (!LIKELY(block->slot == &self->own) || !LIKELY(self->state.flags == 0))
        return otelctx_attr_slow((uint8_t)key, value, len);
    begin_writing(self);
    key_bits = self->state.key_bits;
    new_bits = key_bits | otelctx_key_bit(key);
    /* cppcheck-suppress pointerOutOfBoundsCond ; attrs_size is at most 612 */
    at = self->own.attrs + self->own.attrs_size;
    size = HEAD + len;
    __asm__("" : "+r"(size)); /* one addition less between load and store */
    size += self->own.attrs_size;
    if (!LIKELY(new_bits != key_bits) ||
        !LIKELY(otelctx_context_has_key(key)) ||
        !LIKELY(len <= OTELCTX_VALUE_MAX) || !LIKELY(size <= ATTRS_MAX) ||
        !LIKELY((copy(at + HEAD, value, len) & not_ascii) == 0)) {
        give_up_writing(self);
        return otelctx_attr_slow((uint8_t)key, value, len);
    }
    *(quarter *)at = (quarter)(key | len << 8);
    otelctx_store_visible(&self->own.attrs_size, (uint16_t)size);
    end_writing(self, new_bits);
    return 0;
}

static __attribute__((noinline)) int
append_any_size(uint32_t key, const char *value, size_t len)
{
    return append(key, value, len, copy_any);
}

FAST int otelctx_attr(uint8_t key, const char *value, size_t len)
{
    if (LIKELY(len >= sizeof(word) && len <= 2 * sizeof(word)))
        return append(key, value, len, copy_word);
    if (LIKELY(len >= sizeof(quarter) && len <= 2 * sizeof(quarter)))
        return append(key, value, len, copy_quarter);
    return append_any_size(key, value, len);
}

/* Write an attribute of at most OTELCTX_VALUE_MAX bytes. Returns as
 * copy_function. */
INLINE uint64_t write_attr(uint8_t *at, uint32_t key, const char *value,
                           uint32_t len, copy_function *copy)
{
    *(quarter *)at = (quarter)(key | len << 8);
    return copy(at + HEAD, value, len);
}

/* Add attributes to the thread's own record, which has ids and is hidden, and
 * show it. A function of its own, because both halves then need no register
 * that they would have to save. */
QUICK static int attach_attrs(struct otelctx_thread_block *block,
                              const struct otelctx_attribute *attributes,
                              size_t count)
{
    struct otelctx_record *const own = &block->self.own;
    const struct otelctx_attribute *a = attributes;
    const struct otelctx_attribute *const end = a + count;
    uint32_t key_bits = 0;
    uint64_t seen = 0;
    size_t size = 0;

    for (; a < end; a++) {
        const uint32_t key = a->key, len = a->size;
        const uint32_t bit = otelctx_key_bit(key);
        uint8_t *const at = own->attrs + size;

        size += HEAD + (size_t)len;
        if (!LIKELY(size <= ATTRS_MAX) || !LIKELY((key_bits & bit) == 0) ||
            !LIKELY(otelctx_context_has_key(key)))
            goto unusual;
        key_bits |= bit;
        if (LIKELY(len - sizeof(word) <= sizeof(word)))
            seen |= write_attr(at, key, a->value, len, copy_word);
        else if (LIKELY(len <= OTELCTX_VALUE_MAX))
            seen |= write_attr(at, key, a->value, len, copy_any);
        else
            goto unusual;
    }
    if (!LIKELY((seen & not_ascii) == 0))
        goto unusual;
    own->attrs_size = (uint16_t)size;
    otelctx_store_visible(&block->slot, own);
    end_writing(&block->self, key_bits);
    return 0;

unusual:
    give_up_writing(&block->self);
    return otelctx_attach_with_slow(own->trace_id, own->span_id,
                                    own->trace_flags, attributes, count);
}

FAST int otelctx_attach_with(const uint8_t trace_id[16],
                             const uint8_t span_id[8], uint8_t flags,
                             const struct otelctx_attribute *attributes,
                             size_t count)
{
    const word *const trace = (const word *)trace_id;
    const uint64_t first = trace[0], second = trace[1];
    const uint64_t span = *(const word *)span_id;
    struct otelctx_thread_block *const block = thread_block();

    if (!can_attach(block, first | second, span))
        return otelctx_attach_with_slow(trace_id, span_id, flags, attributes,
                                        count);
    begin_attaching(block);
    write_own(&block->self.own, first, second, span, flags);
    return attach_attrs(block, attributes, count);
}

/* otelctx_thread_swap() explains the order of the stores. */
FAST int otelctx_swap(struct otelctx_record *record,
                      struct otelctx_record **previous)
{
    struct otelctx_thread_block *const block = thread_block();
    struct otelctx_thread *const self = &block->self;
    struct otelctx_record *const before = block->slot;

    if (!LIKELY(((uintptr_t)record & 1) == 0) || !LIKELY(is_known(block)))
        return otelctx_swap_slow(record, previous);
    if (!LIKELY(before == self->swapping) &&
        ((before && before != &self->own) || self->swapping != self->swapped))
        return otelctx_swap_slow(record, previous);
    otelctx_store_visible(&self->swapped, before);
    otelctx_store_visible(&self->swapping, record);
    otelctx_store_visible(&block->slot, record);
    otelctx_store_visible(&self->swapped, record);
    /* Once more: a handler may have changed it. */
    otelctx_store_visible(&self->swapping, record);
    if (previous)
        *previous = before;
    return 0;
}
