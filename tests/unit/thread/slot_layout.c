/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/slot_layout.h"

#include <criterion/criterion.h>

static const struct otelctx_tls_offsets unknown;

/* As at the start, with these storages on. */
static void start_with(unsigned storage)
{
    otelctx_tls_offsets = unknown;
    otelctx_thread_use_storage(storage);
    otelctx_thread_cache_tls_offsets();
}

Test(slot_layout, finds_the_variables_before_the_offsets_are_known_and_after)
{
    struct otelctx_variables v;

    otelctx_tls_offsets = unknown;
    v = otelctx_thread_variables();
    cr_expect_eq(v.slot, &otel_thread_ctx_v1);
    cr_expect_eq(v.self, &otelctx_thread_self);
    start_with(OTELCTX_STORAGE_TLS);
    v = otelctx_thread_variables();
    cr_expect_eq(v.slot, &otel_thread_ctx_v1);
    cr_expect_eq(v.self, &otelctx_thread_self);
}

Test(slot_layout, leaves_the_fast_path_on_with_tls_alone)
{
    start_with(OTELCTX_STORAGE_TLS);
    cr_expect_neq(otelctx_tls_offsets.block, 0);
    cr_expect_eq(otelctx_tls_offsets.block +
                     offsetof(struct otelctx_thread_block, self),
                 otelctx_tls_offsets.any_self);
}

Test(slot_layout, turns_the_fast_path_off_with_any_other_choice)
{
    static const unsigned others[] = {
        0,
        OTELCTX_STORAGE_RING,
        OTELCTX_STORAGE_PROFILER,
        OTELCTX_STORAGE_TLS | OTELCTX_STORAGE_RING,
        OTELCTX_STORAGE_TLS | OTELCTX_STORAGE_PROFILER,
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        start_with(others[i]);
        cr_expect_eq(otelctx_tls_offsets.block, 0, "%u", others[i]);
        cr_expect_neq(otelctx_tls_offsets.any_self, 0, "%u", others[i]);
    }
}

Test(slot_layout, uses_a_slot_that_no_reader_knows_without_tls)
{
    start_with(OTELCTX_STORAGE_RING);
    cr_expect_eq(otelctx_thread_variables().slot,
                 &otelctx_thread_self.hidden_slot);
    start_with(OTELCTX_STORAGE_TLS | OTELCTX_STORAGE_RING);
    cr_expect_eq(otelctx_thread_variables().slot, &otel_thread_ctx_v1);
}

Test(slot_layout, knows_its_own_slot)
{
    cr_expect(otelctx_thread_slot_is_ours());
}

Test(slot_layout, has_a_bit_for_each_key_which_256_keys_share)
{
    cr_expect_eq(otelctx_key_bit(0), 1);
    cr_expect_eq(otelctx_key_bit(31), 0x80000000);
    cr_expect_eq(otelctx_key_bit(32), 1);
    cr_expect_eq(otelctx_key_bit(255), 0x80000000);
}
