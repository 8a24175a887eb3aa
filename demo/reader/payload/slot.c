/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/slot.h"

const char *otelread_slot_status_name(enum otelread_slot_status status)
{
    static const char *const names[] = {
        [OTELREAD_SLOT_NONE] = "none",
        [OTELREAD_SLOT_ATTACHED] = "attached",
        [OTELREAD_SLOT_DETACHED] = "detached",
        [OTELREAD_SLOT_BUSY] = "busy",
        [OTELREAD_SLOT_COLLISION] = "collision",
        [OTELREAD_SLOT_STALE] = "stale",
        [OTELREAD_SLOT_UNREADABLE] = "unreadable",
    };

    return names[status];
}

/* in_use is a whole byte; writers of the plain text leave the number 0. */
bool otelread_slot_is_still(const struct otelctx_ring_slot *slot)
{
    return (slot->lock & 0xff) == 0 &&
           otelctx_ring_sequence(slot->lock) % 2 == 0;
}

bool otelread_slot_has_ids(const struct otelctx_ring_slot *slot)
{
    return slot->trace_id_high != 0 || slot->trace_id_low != 0 ||
           slot->span_id != 0;
}

enum otelread_slot_status
otelread_slot_judge(const struct otelctx_ring_slot *slot, uint32_t tid)
{
    const uint32_t owner = otelctx_ring_thread(slot->lock);

    if (!otelread_slot_is_still(slot))
        return OTELREAD_SLOT_BUSY;
    if (!otelread_slot_has_ids(slot))
        return OTELREAD_SLOT_DETACHED;
    return owner == 0 || owner == tid ? OTELREAD_SLOT_ATTACHED
                                      : OTELREAD_SLOT_COLLISION;
}
