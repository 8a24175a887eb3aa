/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread.h"

#include <errno.h>

#include "shim/image.h"
#include "shim/order.h"
#include "shim/thread_state.h"
#include "shim/wire.h"

#if defined(OTELCTX_LEGACY_TLS)
/* What the compiler calls; libc's own name for it must not be needed. */
__asm__(".weak __tls_get_addr");
#endif

/*
 * The variable of OTEP 4947, "Thread-Local Variable". Alone in .tdata, because
 * that makes it the whole TLS initialisation image: see image.h. With another
 * definition in the process, it is the one that the dynamic linker chose.
 */
_Thread_local struct otelctx_record *otel_thread_ctx_v1
    __attribute__((visibility("default"), section(".tdata"), aligned(64))) =
        NULL;

/* Ours, whichever one that is. */
extern _Thread_local struct otelctx_record *otelctx_thread_our_slot
    __attribute__((visibility("hidden"), alias("otel_thread_ctx_v1")));

static_assert(sizeof(otel_thread_ctx_v1) == 8, "a pointer, also for readers");

_Thread_local struct otelctx_thread otelctx_thread_self
    __attribute__((used, aligned(64)));

struct otelctx_thread_places otelctx_thread_places;

/* The two variables of the calling thread. */
struct here {
    struct otelctx_record **slot;
    struct otelctx_thread *s;
};

static struct here here(void)
{
    const uint64_t self = otelctx_load_acquire(&otelctx_thread_places.self);

    if (self == 0)
        return (struct here){&otel_thread_ctx_v1, &otelctx_thread_self};
    return (struct here){otelctx_slot_behind(otelctx_thread_places.before_slot),
                         otelctx_place_at(self)};
}

void otelctx_thread_touch(void)
{
    struct otelctx_record *volatile seen = otel_thread_ctx_v1;

    (void)seen;
}

void otelctx_thread_find(void)
{
    const uint64_t slot = otelctx_place_of(
        &otel_thread_ctx_v1, OTELCTX_PLACE_DESCRIPTOR("otel_thread_ctx_v1"));
    const uint64_t self = otelctx_place_of(
        &otelctx_thread_self, OTELCTX_PLACE_DESCRIPTOR("otelctx_thread_self"));

    if (slot == OTELCTX_PLACE_UNKNOWN || self == OTELCTX_PLACE_UNKNOWN)
        return;
    otelctx_thread_places.before_slot = slot - sizeof(uint64_t);
    otelctx_store_release(&otelctx_thread_places.self, self);
}

/* What TRACEPARENT names, for all threads; never changed once it is seen. */
static struct otelctx_record shared;

/* Who has the right to the record that is in the slot? */
enum owner {
    NOBODY, /* the slot is NULL */
    OWN,
    SHARED,
    PROGRAM, /* a record that the program swapped in */
    FOREIGN, /* put there by somebody else: not to be touched, nor replaced */
};

static enum owner owner_of(const struct otelctx_record *record,
                           const struct otelctx_thread *s)
{
    if (!record)
        return NOBODY;
    if (record == &s->own)
        return OWN;
    if (record == &shared)
        return SHARED;
    return record == s->swapped || record == s->swapping ? PROGRAM : FOREIGN;
}

/*
 * Take a record out of readers' sight and put it back, in the style that it is
 * used in: by the pointer, or, when it is pinned, by `valid`; never by both.
 * Rule: OTEP 4947, "Context Attachment".
 */
static uint8_t hide(struct otelctx_record **slot, struct otelctx_record *record,
                    const struct otelctx_thread *s)
{
    const uint8_t valid = record->valid;

    if (s->state.pinned && record == &s->own)
        otelctx_show(&record->valid, (uint8_t)0);
    else
        otelctx_show(slot, (struct otelctx_record *)NULL);
    return valid;
}

static void unhide(struct otelctx_record **slot, struct otelctx_record *record,
                   uint8_t valid)
{
    otelctx_show(&record->valid, valid);
    otelctx_show(slot, record);
}

/* Begin what no signal handler of this thread may begin as well. */
static bool enter(struct otelctx_thread *s)
{
    if (s->state.writing)
        return false;
    otelctx_show(&s->state.writing, (uint8_t) true);
    return true;
}

static void leave(struct otelctx_thread *s)
{
    otelctx_show(&s->state.writing, (uint8_t) false);
}

/* May the thread's own record take the place of what is in the slot? */
static bool is_replaceable(enum owner owner)
{
    return owner != PROGRAM && owner != FOREIGN;
}

static int attach(struct here h, const struct otelctx_ids *ids)
{
    struct otelctx_thread *const s = h.s;

    if (!is_replaceable(owner_of(*h.slot, s)))
        return -EBUSY;
    (void)hide(h.slot, &s->own, s);
    otelctx_record_write(&s->own, ids);
    s->state.keys = 0;
    unhide(h.slot, &s->own, 1);
    return 0;
}

int otelctx_thread_attach(const struct otelctx_ids *ids)
{
    const struct here h = here();
    int err;

    if (!enter(h.s))
        return -EBUSY;
    err = attach(h, ids);
    leave(h.s);
    return err;
}

/* Change a record in the slot, so that no reader ever sees half of it. As in
 * otelctx_thread_swap(), a handler that swaps meanwhile has to leave it known.
 */
static void change(struct here h, struct otelctx_record *record,
                   const struct otelctx_change *c, uint8_t key,
                   const struct otelctx_span *value)
{
    struct otelctx_thread *const s = h.s;
    struct otelctx_record *const interrupted = s->swapping;
    uint8_t valid;

    if (!otelctx_change_tears(record, c)) {
        otelctx_change_apply(record, c, key, value);
        return;
    }
    otelctx_show(&s->swapping, record);
    valid = hide(h.slot, record, s);
    otelctx_change_apply(record, c, key, value);
    unhide(h.slot, record, valid);
    otelctx_show(&s->swapped, record);
    otelctx_show(&s->swapping, interrupted);
}

static int attr(struct here h, uint8_t key, const struct otelctx_span *value)
{
    struct otelctx_thread *const s = h.s;
    struct otelctx_record *const record = *h.slot;
    const enum owner owner = owner_of(record, s);
    struct otelctx_change c;
    int err;

    if (owner == FOREIGN)
        return -EBUSY;
    if (owner == NOBODY)
        return -ENOENT;
    err = otelctx_change_plan(record, key, value, &c);
    if (err)
        return err;
    if (owner != SHARED) {
        s->state.keys |= otelctx_key_bit(key);
        change(h, record, &c, key, value);
        return 0;
    }
    s->own = shared; /* unseen, until all of it is there */
    s->state.keys = otelctx_key_bit(key);
    otelctx_change_apply(&s->own, &c, key, value);
    otelctx_show(h.slot, &s->own);
    return 0;
}

int otelctx_thread_attr(uint8_t key, const struct otelctx_span *value)
{
    const struct here h = here();
    int err;

    if (!enter(h.s))
        return -EBUSY;
    err = attr(h, key, value);
    leave(h.s);
    return err;
}

int otelctx_thread_detach(void)
{
    const struct here h = here();
    struct otelctx_thread *const s = h.s;

    if (owner_of(*h.slot, s) == FOREIGN || s->state.writing)
        return -EBUSY;
    otelctx_show(h.slot, (struct otelctx_record *)NULL);
    s->state.pinned = false;
    s->swapped = NULL; /* the program may free it now */
    return 0;
}

int otelctx_thread_get(struct otelctx_ids *out)
{
    const struct here h = here();
    const struct otelctx_record *const record = *h.slot;
    const enum owner owner = owner_of(record, h.s);

    if (owner == FOREIGN)
        return -EBUSY;
    if (owner == NOBODY || record->valid != 1)
        return -ENOENT;
    __builtin_memcpy(out->trace_id, record->trace_id, sizeof(out->trace_id));
    __builtin_memcpy(out->span_id, record->span_id, sizeof(out->span_id));
    out->trace_flags = record->trace_flags;
    return 0;
}

void otelctx_thread_forget_keys(const struct otelctx_record *record)
{
    struct otelctx_thread *const s = here().s;

    if (record == &s->own)
        s->state.keys = UINT32_MAX;
}

static struct otelctx_record *pin(struct here h)
{
    static const struct otelctx_ids none;
    struct otelctx_thread *const s = h.s;

    if (!is_replaceable(owner_of(*h.slot, s)))
        return NULL;
    (void)hide(h.slot, &s->own, s);
    otelctx_record_write(&s->own, &none);
    s->state.pinned = true;
    unhide(h.slot, &s->own, 0);
    return &s->own;
}

struct otelctx_record *otelctx_thread_pin(void)
{
    const struct here h = here();
    struct otelctx_record *record;

    if (!enter(h.s))
        return NULL;
    record = pin(h);
    leave(h.s);
    return record;
}

/*
 * A signal handler may interrupt this anywhere and swap as well, there and
 * back, and so on. Each leaves `swapping` as it found it, and `swapped` the one
 * that is in the slot: so the one that it interrupted finds both to be true.
 */
int otelctx_thread_swap(struct otelctx_record *record,
                        struct otelctx_record **previous)
{
    const struct here h = here();
    struct otelctx_thread *const s = h.s;
    struct otelctx_record *const before = *h.slot;
    struct otelctx_record *const interrupted = s->swapping;

    if (owner_of(before, s) == FOREIGN)
        return -EBUSY;
    otelctx_show(&s->swapped, before);
    otelctx_show(&s->swapping, record);
    otelctx_show(h.slot, record);
    otelctx_show(&s->swapped, record);
    otelctx_show(&s->swapping, interrupted);
    if (previous)
        *previous = before;
    return 0;
}

int otelctx_thread_share(const struct otelctx_ids *ids, bool all_threads,
                         size_t page_size)
{
    int err = 0;

    otelctx_record_write(&shared, ids);
    shared.valid = 1;
    if (all_threads)
        err = &otel_thread_ctx_v1 == &otelctx_thread_our_slot
                  ? otelctx_image_set((uintptr_t)&shared, page_size)
                  : -EXDEV;
    if (!otel_thread_ctx_v1) {
        if (all_threads)
            otelctx_show(&otel_thread_ctx_v1, &shared);
        else
            (void)otelctx_thread_attach(ids);
    }
    return err;
}
