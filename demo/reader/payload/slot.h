/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shim/wire/ring.h"

#include <stdbool.h>
#include <stdint.h>

/* What a thread's slot of the ring says. The names are in otelctx-read(1). */
enum otelread_slot_status {
    OTELREAD_SLOT_NONE, /* the process has no ring */
    OTELREAD_SLOT_ATTACHED,
    OTELREAD_SLOT_DETACHED,
    OTELREAD_SLOT_BUSY,       /* it is being written */
    OTELREAD_SLOT_COLLISION,  /* another thread has the same slot */
    OTELREAD_SLOT_STALE,      /* a thread that has ended had the same slot */
    OTELREAD_SLOT_UNREADABLE, /* its memory */
};

/* "attached" and so on; never NULL. */
const char *otelread_slot_status_name(enum otelread_slot_status status);

/* Whether the slot is not being written: its ids belong together. */
bool otelread_slot_is_still(const struct otelctx_ring_slot *slot);

bool otelread_slot_has_ids(const struct otelctx_ring_slot *slot);

/*
 * Of the slot of the thread with this number: ATTACHED, DETACHED, BUSY or
 * COLLISION. A slot that does not name its thread is taken for that thread's.
 */
enum otelread_slot_status
otelread_slot_judge(const struct otelctx_ring_slot *slot, uint32_t tid);
