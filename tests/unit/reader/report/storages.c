/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/storages.h"

#include <criterion/criterion.h>

static struct otelread_storages storages;

static const struct otelread_opinion none = {.counts = true};
static const struct otelread_opinion silent = {.counts = false};
static const struct otelread_opinion tls = {
    .counts = true, .trace_high = 1, .trace_low = 2, .span = 3};

static void set_ring(enum otelread_slot_status status, uint64_t high,
                     uint64_t low, uint64_t span, uint64_t owner)
{
    storages = (struct otelread_storages){
        .inside = 7,
        .ring_status = status,
        .ring = {high, low, span, owner << 32},
    };
}

static void set_profiler(enum otelread_profiled_status status, uint64_t root,
                         uint64_t span)
{
    storages.profiler_status = status;
    storages.profiler.root_span_id = root;
    storages.profiler.span_id = span;
}

Test(reader_storages, the_same_ids_agree)
{
    set_ring(OTELREAD_SLOT_ATTACHED, 1, 2, 3, 7);
    set_profiler(OTELREAD_PROFILED_ATTACHED, 2, 3);
    cr_expect_not(otelread_storages_disagree(&storages, &tls));
    cr_expect_str_empty(storages.disagreement);
}

Test(reader_storages, a_storage_with_other_ids_disagrees_and_all_are_named)
{
    set_ring(OTELREAD_SLOT_ATTACHED, 1, 2, 4, 7);
    cr_expect(otelread_storages_disagree(&storages, &tls));
    cr_expect_str_eq(storages.disagreement,
                     "tls trace 00000000000000010000000000000002 span "
                     "0000000000000003; ring trace "
                     "00000000000000010000000000000002 span 0000000000000004");
    set_ring(OTELREAD_SLOT_ATTACHED, 9, 2, 3, 7);
    cr_expect(otelread_storages_disagree(&storages, &tls));
    set_ring(OTELREAD_SLOT_NONE, 0, 0, 0, 0);
    set_profiler(OTELREAD_PROFILED_ATTACHED, 2, 5);
    cr_expect(otelread_storages_disagree(&storages, &tls));
    cr_expect_str_eq(storages.disagreement,
                     "tls trace 00000000000000010000000000000002 span "
                     "0000000000000003; profiler trace ...0000000000000002 "
                     "span 0000000000000005");
}

Test(reader_storages, a_cleared_slot_disagrees_with_none)
{
    set_ring(OTELREAD_SLOT_DETACHED, 0, 0, 0, 7);
    cr_expect(otelread_storages_disagree(&storages, &tls));
    cr_expect_not(otelread_storages_disagree(&storages, &none));
    set_ring(OTELREAD_SLOT_ATTACHED, 1, 2, 3, 7);
    cr_expect(otelread_storages_disagree(&storages, &none));
}

Test(reader_storages, a_storage_without_a_valid_status_is_not_compared)
{
    set_ring(OTELREAD_SLOT_DETACHED, 0, 0, 0, 0);
    cr_expect_not(otelread_storages_disagree(&storages, &tls), "never written");
    set_ring(OTELREAD_SLOT_COLLISION, 5, 5, 5, 8);
    cr_expect_not(otelread_storages_disagree(&storages, &tls));
    set_ring(OTELREAD_SLOT_BUSY, 5, 5, 5, 7);
    set_profiler(OTELREAD_PROFILED_DETACHED, 0, 0);
    cr_expect_not(otelread_storages_disagree(&storages, &tls));
    set_profiler(OTELREAD_PROFILED_TORN, 5, 5);
    cr_expect_not(otelread_storages_disagree(&storages, &tls));
    set_ring(OTELREAD_SLOT_ATTACHED, 5, 5, 5, 7);
    cr_expect_not(otelread_storages_disagree(&storages, &silent));
}

Test(reader_storages, ring_and_profiler_are_compared_without_tls)
{
    set_ring(OTELREAD_SLOT_ATTACHED, 1, 2, 3, 7);
    set_profiler(OTELREAD_PROFILED_ATTACHED, 2, 3);
    cr_expect_not(otelread_storages_disagree(&storages, &silent));
    set_profiler(OTELREAD_PROFILED_ATTACHED, 9, 3);
    cr_expect(otelread_storages_disagree(&storages, &silent));
}
