/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread.h"

#include <errno.h>

#include "shim/image.h"
#include "shim/order.h"
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

struct state {
    struct otelctx_record own; /* one line of cache, if it is short */
    /* The program's record in the slot, and the one that is about to be: at
     * every instruction the slot is one of them, NULL, own or shared. */
    struct otelctx_record *swapped, *swapping;
    bool pinned;  /* own: readers go by its `valid` */
    bool writing; /* a change is under way; a signal handler must not begin
                     another one */
};
static _Thread_local __attribute__((aligned(64))) struct state self;

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
                           const struct state *s)
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
                    const struct state *s)
{
    const uint8_t valid = record->valid;

    if (s->pinned && record == &s->own)
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
static bool enter(struct state *s)
{
    if (s->writing)
        return false;
    otelctx_show(&s->writing, true);
    return true;
}

static void leave(struct state *s)
{
    otelctx_show(&s->writing, false);
}

/* May the thread's own record take the place of what is in the slot? */
static bool is_replaceable(enum owner owner)
{
    return owner != PROGRAM && owner != FOREIGN;
}

static int attach(struct state *s, const struct otelctx_ids *ids)
{
    struct otelctx_record **const slot = &otel_thread_ctx_v1;

    if (!is_replaceable(owner_of(*slot, s)))
        return -EBUSY;
    (void)hide(slot, &s->own, s);
    otelctx_record_write(&s->own, ids);
    unhide(slot, &s->own, 1);
    return 0;
}

int otelctx_thread_attach(const struct otelctx_ids *ids)
{
    struct state *const s = &self;
    int err;

    if (!enter(s))
        return -EBUSY;
    err = attach(s, ids);
    leave(s);
    return err;
}

/* Change a record in the slot, so that no reader ever sees half of it. As in
 * otelctx_thread_swap(), a handler that swaps meanwhile has to leave it known.
 */
static void change(struct state *s, struct otelctx_record *record,
                   const struct otelctx_change *c, uint8_t key,
                   const struct otelctx_span *value)
{
    struct otelctx_record **const slot = &otel_thread_ctx_v1;
    struct otelctx_record *const interrupted = s->swapping;
    uint8_t valid;

    if (!otelctx_change_tears(record, c)) {
        otelctx_change_apply(record, c, key, value);
        return;
    }
    otelctx_show(&s->swapping, record);
    valid = hide(slot, record, s);
    otelctx_change_apply(record, c, key, value);
    unhide(slot, record, valid);
    otelctx_show(&s->swapped, record);
    otelctx_show(&s->swapping, interrupted);
}

static int attr(struct state *s, uint8_t key, const struct otelctx_span *value)
{
    struct otelctx_record *const record = otel_thread_ctx_v1;
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
        change(s, record, &c, key, value);
        return 0;
    }
    s->own = shared; /* unseen, until all of it is there */
    otelctx_change_apply(&s->own, &c, key, value);
    otelctx_show(&otel_thread_ctx_v1, &s->own);
    return 0;
}

int otelctx_thread_attr(uint8_t key, const struct otelctx_span *value)
{
    struct state *const s = &self;
    int err;

    if (!enter(s))
        return -EBUSY;
    err = attr(s, key, value);
    leave(s);
    return err;
}

int otelctx_thread_detach(void)
{
    struct otelctx_record **const slot = &otel_thread_ctx_v1;
    struct state *const s = &self;
    const enum owner owner = owner_of(*slot, s);

    if (owner == FOREIGN || s->writing)
        return -EBUSY;
    otelctx_show(slot, (struct otelctx_record *)NULL);
    s->pinned = false;
    s->swapped = NULL; /* the program may free it now */
    return 0;
}

int otelctx_thread_get(struct otelctx_ids *out)
{
    const struct otelctx_record *const record = otel_thread_ctx_v1;
    const enum owner owner = owner_of(record, &self);

    if (owner == FOREIGN)
        return -EBUSY;
    if (owner == NOBODY || record->valid != 1)
        return -ENOENT;
    __builtin_memcpy(out->trace_id, record->trace_id, sizeof(out->trace_id));
    __builtin_memcpy(out->span_id, record->span_id, sizeof(out->span_id));
    out->trace_flags = record->trace_flags;
    return 0;
}

static struct otelctx_record *pin(struct state *s)
{
    static const struct otelctx_ids none;
    struct otelctx_record **const slot = &otel_thread_ctx_v1;

    if (!is_replaceable(owner_of(*slot, s)))
        return NULL;
    (void)hide(slot, &s->own, s);
    otelctx_record_write(&s->own, &none);
    s->pinned = true;
    unhide(slot, &s->own, 0);
    return &s->own;
}

struct otelctx_record *otelctx_thread_pin(void)
{
    struct state *const s = &self;
    struct otelctx_record *record;

    if (!enter(s))
        return NULL;
    record = pin(s);
    leave(s);
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
    struct otelctx_record **const slot = &otel_thread_ctx_v1;
    struct otelctx_record *const before = *slot;
    struct state *const s = &self;
    struct otelctx_record *const interrupted = s->swapping;

    if (owner_of(before, s) == FOREIGN)
        return -EBUSY;
    otelctx_show(&s->swapped, before);
    otelctx_show(&s->swapping, record);
    otelctx_show(slot, record);
    otelctx_show(&s->swapped, record);
    otelctx_show(&s->swapping, interrupted);
    if (previous)
        *previous = before;
    return 0;
}

void otelctx_thread_touch(void)
{
    struct otelctx_record *volatile seen = otel_thread_ctx_v1;

    (void)seen;
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
