/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * FNV-1a: tells in eight bytes whether something is what it was. Begin with
 * OTELBASE_HASH, and add what counts.
 */
#define OTELBASE_HASH UINT64_C(0xcbf29ce484222325)

static inline uint64_t otelbase_hash_add(uint64_t digest, const void *bytes,
                                         size_t size)
{
    const uint8_t *const at = bytes;

    for (size_t i = 0; i < size; i++)
        digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static inline uint64_t otelbase_hash_number(uint64_t digest, uint64_t number)
{
    return otelbase_hash_add(digest, &number, sizeof(number));
}
