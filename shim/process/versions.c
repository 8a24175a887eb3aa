/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/versions.h"

#include "shim/base/order.h"
#include "shim/process/state.h"

/* The numbers of the staged version (the lowest bits) and of the one published
 * last (from PUBLISHED_SHIFT on): one store changes both. */
enum {
    PUBLISHED_SHIFT = 8,
    VERSION_MASK = 0xff
};
static uint64_t numbers;

/* Number 0 is the last in memory: it is the empty one of the start, seldom used
 * again, while the first one begins in a page that is in use anyway. */
OTELCTX_INLINE struct otelctx_payload *version(uint64_t number)
{
    return &otelctx_state_version[2 - number];
}

OTELCTX_INLINE uint64_t staged(void)
{
    return numbers & VERSION_MASK;
}

OTELCTX_INLINE uint64_t published(void)
{
    return numbers >> PUBLISHED_SHIFT;
}

/* A version that is neither staged nor published. It is the third one only
 * while those two differ, because each version that is used occupies memory. */
static uint64_t edited(void)
{
    const uint64_t all = 0 + 1 + 2;

    return staged() == published() ? staged() == 2 ? 1 : 2
                                   : all - staged() - published();
}

const struct otelctx_payload *otelctx_versions_published(void)
{
    return version(published());
}

const struct otelctx_payload *otelctx_versions_staged(void)
{
    return version(staged());
}

struct otelctx_payload *otelctx_versions_edited(void)
{
    return version(edited());
}

struct otelctx_payload *otelctx_versions_edit(void)
{
    struct otelctx_payload *const payload = otelctx_versions_edited();

    otelctx_payload_copy(payload, otelctx_versions_staged());
    payload->reserved = (uint32_t)otelctx_key_map_size(&otelctx_state_key_map);
    return payload;
}

void otelctx_versions_stage(void)
{
    otelctx_store_release(&numbers, published() << PUBLISHED_SHIFT | edited());
}

void otelctx_versions_publish(void)
{
    otelctx_store_release(&numbers, staged() << PUBLISHED_SHIFT | staged());
}
