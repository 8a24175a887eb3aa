/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/slot.h"

#include <errno.h>

#include "shim/base/order.h"
#include "shim/base/tls_image.h"
#include "shim/thread/slot_layout.h"
#include "shim/thread/storage.h"

/* The context from TRACEPARENT, for all threads. Never changed once attached.
 */
static struct otelctx_record shared;

/* Who wrote the record that is in the slot? */
enum owner {
    NOBODY,  /* the slot is NULL */
    OWN,     /* the thread's own record */
    SHARED,  /* the record from TRACEPARENT */
    PROGRAM, /* a record that the program swapped in */
    FOREIGN, /* another writer's record: never changed and never replaced */
};

static enum owner owner_of(const struct otelctx_record *record,
                           const struct otelctx_thread *self)
{
    if (!record)
        return NOBODY;
    if (record == &self->own)
        return OWN;
    if (record == &shared)
        return SHARED;
    return record == self->swapped || record == self->swapping ? PROGRAM
                                                               : FOREIGN;
}

/*
 * Hide a record from readers, and show it again. A pinned record is hidden by
 * clearing `valid`, any other one by clearing the slot; never by both.
 * Rule: OTEP 4947, "Context Attachment".
 *
 * hide_record() returns the `valid` to restore.
 */
static uint8_t hide_record(struct otelctx_variables v,
                           struct otelctx_record *record)
{
    const uint8_t valid = record->valid;

    if (v.self->state.pinned && record == &v.self->own)
        otelctx_store_visible(&record->valid, (uint8_t)0);
    else
        otelctx_store_visible(v.slot, (struct otelctx_record *)NULL);
    return valid;
}

static void show_record(struct otelctx_variables v,
                        struct otelctx_record *record, uint8_t valid)
{
    otelctx_store_visible(&record->valid, valid);
    otelctx_store_visible(v.slot, record);
}

/* Returns false in a signal handler that interrupted a write of this thread. */
static bool begin_writing(struct otelctx_thread *self)
{
    if (self->state.writing)
        return false;
    otelctx_store_visible(&self->state.writing, (uint8_t) true);
    return true;
}

static void end_writing(struct otelctx_thread *self)
{
    otelctx_store_visible(&self->state.writing, (uint8_t) false);
}

/* May the thread's own record replace the one in the slot? */
static bool is_replaceable(enum owner owner)
{
    return owner != PROGRAM && owner != FOREIGN;
}

static int attach(struct otelctx_variables v, const struct otelctx_ids *ids,
                  struct otelctx_span attrs)
{
    struct otelctx_thread *const self = v.self;

    if (!is_replaceable(owner_of(*v.slot, self)))
        return -EBUSY;
    (void)hide_record(v, &self->own);
    otelctx_record_write(&self->own, ids);
    memcpy(self->own.attrs, attrs.at, attrs.size);
    self->own.attrs_size = (uint16_t)attrs.size;
    self->state.key_bits = attrs.size > 0 ? UINT32_MAX : 0;
    show_record(v, &self->own, 1);
    return 0;
}

static int detach(struct otelctx_variables v)
{
    struct otelctx_thread *const self = v.self;

    if (owner_of(*v.slot, self) == FOREIGN || self->state.writing)
        return -EBUSY;
    otelctx_store_visible(v.slot, (struct otelctx_record *)NULL);
    self->state.pinned = false;
    /* The program may free its record now. */
    otelctx_store_visible(&self->swapped, (struct otelctx_record *)NULL);
    otelctx_store_visible(&self->swapping, (struct otelctx_record *)NULL);
    return 0;
}

/* Show what is in the slot in the other storages, too. */
static bool show_elsewhere(struct otelctx_variables v)
{
    return !otelctx_storage_has_others() ||
           otelctx_storage_show(v.self, v.slot);
}

/* After otelctx_storage_stop() a thread's next call detaches its context. */
static int refuse_stopped(void)
{
    (void)detach(otelctx_thread_variables());
    otelctx_storage_show_stopped();
    return -EOPNOTSUPP;
}

int otelctx_thread_attach(const struct otelctx_ids *ids,
                          struct otelctx_span attrs)
{
    const struct otelctx_variables v = otelctx_thread_variables();
    int err;

    if (!otelctx_storage_bits)
        return refuse_stopped();
    if (!begin_writing(v.self))
        return -EBUSY;
    err = attach(v, ids, attrs);
    if (!err && !show_elsewhere(v)) {
        otelctx_store_visible(v.slot, (struct otelctx_record *)NULL);
        err = -EBUSY;
    }
    end_writing(v.self);
    return err;
}

/*
 * The value of `swapping` for the time after `record` has replaced `before` in
 * the slot. In a signal handler that interrupted an exchange of records, this
 * is the value that the interrupted call stored and will use.
 */
static struct otelctx_record *
swapping_after(const struct otelctx_thread *self,
               const struct otelctx_record *before,
               struct otelctx_record *record)
{
    /* Read `swapped` first: a handler that runs in between leaves `before` in
     * both. */
    const struct otelctx_record *const swapped = self->swapped;
    struct otelctx_record *swapping;

    otelctx_signal_fence();
    swapping = self->swapping;
    return swapping == before || swapping == swapped ? record : swapping;
}

/*
 * Change the record in the slot so that no reader sees part of the change.
 *
 * While the slot is NULL, `swapping` marks the record as the program's, because
 * a signal handler may swap meanwhile (see otelctx_thread_swap()). A handler
 * that runs before the slot is NULL leaves `swapped` equal to `swapping`, and a
 * second handler would then overwrite both. So `swapped` is made NULL once the
 * slot is: handlers keep a `swapping` that differs from `swapped`.
 */
static void change_attached(struct otelctx_variables v,
                            struct otelctx_record *record,
                            const struct otelctx_change *c, uint8_t key,
                            const struct otelctx_span *value)
{
    struct otelctx_thread *const self = v.self;
    struct otelctx_record *const after = swapping_after(self, record, record);
    uint8_t valid;

    if (!otelctx_change_needs_hiding(record, c)) {
        otelctx_change_apply(record, c, key, value);
        return;
    }
    otelctx_store_visible(&self->swapping, record);
    valid = hide_record(v, record);
    otelctx_store_visible(&self->swapped, (struct otelctx_record *)NULL);
    otelctx_store_visible(&self->swapping, record);
    otelctx_change_apply(record, c, key, value);
    show_record(v, record, valid);
    otelctx_store_visible(&self->swapped, record);
    otelctx_store_visible(&self->swapping, after);
}

static int set_attr(struct otelctx_variables v, uint8_t key,
                    const struct otelctx_span *value)
{
    struct otelctx_thread *const self = v.self;
    struct otelctx_record *const record = *v.slot;
    const enum owner owner = owner_of(record, self);
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
        self->state.key_bits |= otelctx_key_bit(key);
        change_attached(v, record, &c, key, value);
        return 0;
    }
    self->own = shared; /* a copy, which readers see once it is complete */
    self->state.key_bits = otelctx_key_bit(key);
    otelctx_change_apply(&self->own, &c, key, value);
    otelctx_store_visible(v.slot, &self->own);
    return 0;
}

int otelctx_thread_attr(uint8_t key, const struct otelctx_span *value)
{
    const struct otelctx_variables v = otelctx_thread_variables();
    int err;

    if (!(otelctx_storage_bits & OTELCTX_STORAGE_TLS))
        return otelctx_storage_bits ? -EOPNOTSUPP : refuse_stopped();
    if (!begin_writing(v.self))
        return -EBUSY;
    err = set_attr(v, key, value);
    if (!err) /* a handler may have shown the slot while it was NULL */
        (void)show_elsewhere(v);
    end_writing(v.self);
    return err;
}

int otelctx_thread_detach(void)
{
    const struct otelctx_variables v = otelctx_thread_variables();
    int err;

    if (!otelctx_storage_bits)
        return refuse_stopped();
    err = detach(v);
    if (!err)
        (void)show_elsewhere(v);
    return err;
}

int otelctx_thread_get(struct otelctx_ids *out)
{
    const struct otelctx_variables v = otelctx_thread_variables();
    const struct otelctx_record *const record = *v.slot;
    const enum owner owner = owner_of(record, v.self);

    if (!otelctx_storage_bits)
        return -EOPNOTSUPP;
    if (owner == FOREIGN)
        return -EBUSY;
    if (owner == NOBODY || record->valid != 1)
        return -ENOENT;
    __builtin_memcpy(out->trace_id, record->trace_id, sizeof(out->trace_id));
    __builtin_memcpy(out->span_id, record->span_id, sizeof(out->span_id));
    out->trace_flags = record->trace_flags;
    return 0;
}

void otelctx_thread_assume_all_keys(const struct otelctx_record *record)
{
    struct otelctx_thread *const self = otelctx_thread_variables().self;

    if (record == &self->own)
        self->state.key_bits = UINT32_MAX;
}

static struct otelctx_record *pin(struct otelctx_variables v)
{
    static const struct otelctx_ids no_trace;
    struct otelctx_thread *const self = v.self;

    if (!is_replaceable(owner_of(*v.slot, self)))
        return NULL;
    (void)hide_record(v, &self->own);
    otelctx_record_write(&self->own, &no_trace);
    self->state.pinned = true;
    show_record(v, &self->own, 0);
    return &self->own;
}

struct otelctx_record *otelctx_thread_pin(void)
{
    const struct otelctx_variables v = otelctx_thread_variables();
    struct otelctx_record *record;

    if (!(otelctx_storage_bits & OTELCTX_STORAGE_TLS) || !begin_writing(v.self))
        return NULL;
    record = pin(v);
    (void)show_elsewhere(v);
    end_writing(v.self);
    return record;
}

/*
 * A signal handler may interrupt this function at any instruction. It may swap
 * records if it swaps them back, and another handler may interrupt it in turn.
 * When a handler returns, the record in the slot is `swapped` or `swapping`,
 * and `swapping` is the record that the interrupted call is about to store
 * there.
 */
int otelctx_thread_swap(struct otelctx_record *record,
                        struct otelctx_record **previous)
{
    const struct otelctx_variables v = otelctx_thread_variables();
    struct otelctx_thread *const self = v.self;
    struct otelctx_record *const before = *v.slot;
    struct otelctx_record *const after = swapping_after(self, before, record);

    if (!otelctx_storage_bits)
        return refuse_stopped();
    if (owner_of(before, self) == FOREIGN)
        return -EBUSY;
    otelctx_store_visible(&self->swapped, before);
    otelctx_store_visible(&self->swapping, record);
    otelctx_store_visible(v.slot, record);
    otelctx_store_visible(&self->swapped, record);
    otelctx_store_visible(&self->swapping, after);
    if (previous)
        *previous = before;
    (void)show_elsewhere(v);
    return 0;
}

int otelctx_thread_share(const struct otelctx_ids *ids, bool all_threads,
                         size_t page_size)
{
    const struct otelctx_variables v = otelctx_thread_variables();
    int err = 0;

    all_threads &= (otelctx_storage_bits & OTELCTX_STORAGE_TLS) != 0;
    otelctx_record_write(&shared, ids);
    shared.valid = 1;
    if (all_threads)
        err = otelctx_thread_slot_is_ours()
                  ? otelctx_tls_image_set((uintptr_t)&shared, page_size)
                  : -EXDEV;
    if (*v.slot)
        return err;
    if (!all_threads) {
        (void)otelctx_thread_attach(ids, OTELCTX_SPAN(""));
    } else {
        otelctx_store_visible(v.slot, &shared);
        (void)show_elsewhere(v);
    }
    return err;
}
