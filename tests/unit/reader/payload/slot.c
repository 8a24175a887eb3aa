/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/slot.h"

#include <criterion/criterion.h>
#include <string.h>

/* A slot from literal bytes. */
static enum otelread_slot_status judge(const char *bytes, uint32_t tid)
{
    struct otelctx_ring_slot slot;

    memcpy(&slot, bytes, sizeof(slot));
    return otelread_slot_judge(&slot, tid);
}

#define ZERO8 "\0\0\0\0\0\0\0\0"
#define IDS   "\x01\0\0\0\0\0\0\0" ZERO8 "\x02\0\0\0\0\0\0\0"
#define NONE  ZERO8 ZERO8 ZERO8

Test(reader_slot, ids_are_the_context_of_the_thread_in_the_slot)
{
    cr_expect_eq(judge(IDS "\0\x02\0\0\x67\x12\0\0", 4711),
                 OTELREAD_SLOT_ATTACHED);
    cr_expect_eq(judge(IDS "\0\x02\0\0\x68\x12\0\0", 4711),
                 OTELREAD_SLOT_COLLISION);
}

Test(reader_slot, a_slot_without_a_thread_id_is_attached)
{
    cr_expect_eq(judge(IDS ZERO8, 4711), OTELREAD_SLOT_ATTACHED);
}

Test(reader_slot, zero_ids_are_no_context)
{
    cr_expect_eq(judge(NONE ZERO8, 4711), OTELREAD_SLOT_DETACHED);
    cr_expect_eq(judge(NONE "\0\x02\0\0\x68\x12\0\0", 4711),
                 OTELREAD_SLOT_DETACHED);
    cr_expect_eq(judge("\0\0\0\0\0\0\0\x01" ZERO8 ZERO8 ZERO8, 4711),
                 OTELREAD_SLOT_ATTACHED);
}

Test(reader_slot, in_use_or_an_odd_sequence_number_is_a_write)
{
    cr_expect_eq(judge(IDS "\x01\0\0\0\0\0\0\0", 4711), OTELREAD_SLOT_BUSY);
    cr_expect_eq(judge(IDS "\x80\0\0\0\0\0\0\0", 4711), OTELREAD_SLOT_BUSY);
    cr_expect_eq(judge(IDS "\0\x01\0\0\0\0\0\0", 4711), OTELREAD_SLOT_BUSY);
    cr_expect_eq(judge(IDS "\0\xfe\xff\xff\0\0\0\0", 4711),
                 OTELREAD_SLOT_ATTACHED);
}

Test(reader_slot, each_status_has_a_name)
{
    cr_expect_str_eq(otelread_slot_status_name(OTELREAD_SLOT_NONE), "none");
    cr_expect_str_eq(otelread_slot_status_name(OTELREAD_SLOT_ATTACHED),
                     "attached");
    cr_expect_str_eq(otelread_slot_status_name(OTELREAD_SLOT_DETACHED),
                     "detached");
    cr_expect_str_eq(otelread_slot_status_name(OTELREAD_SLOT_BUSY), "busy");
    cr_expect_str_eq(otelread_slot_status_name(OTELREAD_SLOT_COLLISION),
                     "collision");
    cr_expect_str_eq(otelread_slot_status_name(OTELREAD_SLOT_STALE), "stale");
    cr_expect_str_eq(otelread_slot_status_name(OTELREAD_SLOT_UNREADABLE),
                     "unreadable");
}
