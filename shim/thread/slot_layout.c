/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/slot_layout.h"

#include "shim/base/compiler.h"
#include "shim/base/order.h"
#include "shim/thread/profiler.h"

/*
 * The slot: OTEP 4947, "Thread-Local Variable". It is the only variable in
 * .tdata and therefore the whole TLS initialisation image: see tls_image.h. If
 * another module exports a variable of this name, the dynamic linker may bind
 * the name to that one, here too.
 */
_Thread_local struct otelctx_record *otel_thread_ctx_v1
    __attribute__((visibility("default"), section(".tdata"), aligned(64))) =
        NULL;

/* This object's own definition, even if otel_thread_ctx_v1 is bound to another
 * module's. */
extern _Thread_local struct otelctx_record *otelctx_thread_our_slot
    __attribute__((visibility("hidden"), alias("otel_thread_ctx_v1")));

static_assert(sizeof(otel_thread_ctx_v1) == 8, "readers expect 8 bytes");

/* The first variable in .tbss, which begins where .tdata ends: right after the
 * slot, as struct otelctx_thread_block says. A variable of .tbss with a larger
 * alignment would leave a gap there. */
OTELCTX_IN_ORDER _Thread_local struct otelctx_thread otelctx_thread_self
    __attribute__((used, aligned(8)));

/* It follows the block, hence at a multiple of 64. As with otel_thread_ctx_v1,
 * the name may be bound to another module's variable. */
OTELCTX_IN_ORDER _Thread_local struct otelctx_profiler_context context_tls_v1
    __attribute__((visibility("default"), aligned(8)));

struct otelctx_tls_offsets otelctx_tls_offsets;

static bool is_hidden, is_alone;

void otelctx_thread_use_storage(unsigned storage)
{
    is_hidden = storage && !(storage & OTELCTX_STORAGE_TLS);
    is_alone = storage == OTELCTX_STORAGE_TLS;
}

bool otelctx_thread_slot_is_ours(void)
{
    return &otel_thread_ctx_v1 == &otelctx_thread_our_slot;
}

struct otelctx_variables otelctx_thread_variables(void)
{
    const uint64_t offset = otelctx_load_acquire(&otelctx_tls_offsets.any_self);
    struct otelctx_thread *const self =
        offset ? otelctx_tls_offset_at(offset) : &otelctx_thread_self;

    if (offset)
        return (struct otelctx_variables){
            otelctx_slot_after(otelctx_tls_offsets.before_slot), self};
    return (struct otelctx_variables){
        is_hidden ? &self->hidden_slot : &otel_thread_ctx_v1, self};
}

void otelctx_thread_resolve_slot(void)
{
    struct otelctx_record *volatile attached = otel_thread_ctx_v1;

    (void)attached;
}

void otelctx_thread_cache_tls_offsets(void)
{
    uint64_t slot = otelctx_tls_offset_of(
        &otel_thread_ctx_v1, OTELCTX_TLS_DESCRIPTOR("otel_thread_ctx_v1"));
    const uint64_t self = otelctx_tls_offset_of(
        &otelctx_thread_self, OTELCTX_TLS_DESCRIPTOR("otelctx_thread_self"));

    if (slot == OTELCTX_TLS_OFFSET_UNKNOWN ||
        self == OTELCTX_TLS_OFFSET_UNKNOWN)
        return;
    if (is_hidden)
        slot = self + offsetof(struct otelctx_thread, hidden_slot);
    otelctx_tls_offsets.before_slot = slot - sizeof(uint64_t);
    otelctx_store_release(&otelctx_tls_offsets.any_self, self);
    if (is_alone && self - slot == offsetof(struct otelctx_thread_block, self))
        otelctx_store_release(&otelctx_tls_offsets.block, slot);
}
