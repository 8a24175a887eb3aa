/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/storage.h"

#include "shim/base/host.h"

unsigned otelctx_storage_bits;
static unsigned stopped; /* the bits before otelctx_storage_stop() */

/* The thread ends. A signal handler must not begin another write meanwhile. */
static void leave(void *round)
{
    struct otelctx_thread *const self = otelctx_thread_variables().self;

    otelctx_store_visible(&self->state.showing, (uint8_t) true);
    otelctx_ring_leave(&self->ring, (uintptr_t)round);
    otelctx_store_visible(&self->state.showing, (uint8_t) false);
}

int otelctx_storage_start(unsigned storage, uint32_t ring_capacity,
                          size_t page_size, struct otelctx_failure *failure)
{
    int err = 0;

    if (storage & OTELCTX_STORAGE_RING) {
        err = otelctx_ring_open(ring_capacity, page_size, failure);
        if (err)
            storage = (storage & ~(unsigned)OTELCTX_STORAGE_RING) |
                      OTELCTX_STORAGE_PROFILER;
        else
            otelctx_host_watch_threads(leave);
    }
    otelctx_thread_use_storage(storage);
    otelctx_storage_bits = storage;
    return err;
}

void otelctx_storage_cache_tls_offsets(void)
{
    if (stopped)
        return;
    otelctx_thread_cache_tls_offsets();
    if (otelctx_storage_bits & OTELCTX_STORAGE_PROFILER)
        otelctx_profiler_cache_tls_offset();
    otelctx_fence();
    if (stopped)
        otelctx_store_release(&otelctx_tls_offsets.block, 0);
}

void otelctx_storage_stop(void)
{
    const unsigned storage = otelctx_storage_bits;

    stopped = storage;
    otelctx_storage_bits = 0;
    otelctx_fence();
    otelctx_store_release(&otelctx_tls_offsets.block, 0);
    if (storage & OTELCTX_STORAGE_RING)
        otelctx_ring_close();
    otelctx_storage_show_stopped();
}

void otelctx_storage_show_stopped(void)
{
    if (stopped & OTELCTX_STORAGE_PROFILER)
        otelctx_profiler_show(0, 0);
}

/* The number that 8 bytes are in network order. */
static uint64_t number_in(const uint8_t *at)
{
    uint64_t number;

    __builtin_memcpy(&number, at, sizeof(number));
    return __builtin_bswap64(number);
}

static struct otelctx_numbers numbers_of(const struct otelctx_record *record)
{
    if (!record || record->valid != 1)
        return (struct otelctx_numbers){0};
    return (struct otelctx_numbers){number_in(record->trace_id),
                                    number_in(record->trace_id + 8),
                                    number_in(record->span_id)};
}

bool otelctx_storage_show(struct otelctx_thread *self,
                          struct otelctx_record *const *slot)
{
    bool is_shown;

    if (self->state
            .showing) { /* in a signal handler: the interrupted call goes on */
        otelctx_store_visible(&self->state.changed, (uint8_t) true);
        return true;
    }
    do {
        struct otelctx_numbers ids;

        otelctx_store_visible(&self->state.changed, (uint8_t) false);
        otelctx_store_visible(&self->state.showing, (uint8_t) true);
        ids = numbers_of(*slot);
        is_shown = otelctx_storage_show_ids(self, &ids) ||
                   otelctx_ring_show(&self->ring, &ids);
        otelctx_store_visible(&self->state.showing, (uint8_t) false);
    } while (self->state.changed);
    return is_shown || otelctx_storage_bits != OTELCTX_STORAGE_RING;
}

void otelctx_storage_begin_child(struct otelctx_thread *self,
                                 struct otelctx_record *const *slot,
                                 bool is_quiet)
{
    if (!(otelctx_storage_bits & OTELCTX_STORAGE_RING))
        return;
    otelctx_ring_begin_child(is_quiet);
    if (!is_quiet)
        (void)otelctx_storage_show(self, slot);
}
