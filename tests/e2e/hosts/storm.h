/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the writers of hosts/stormer.c write: all of a context is derived from
 * one word, which is the writer's letter and a 24-bit counter. So a mixture of
 * two contexts can be recognised.
 */

#include <stdint.h>
#include <string.h>

/* Letters: of the thread, in its own record and in one of the program's; of the
 * signal handlers. */
#define STORM_WRITERS "OPABC"

enum {
    STORM_SIGNALS = 3, /* so handlers are up to three deep */
    STORM_KEYS = 3,
    STORM_VARIANTS = 2, /* of a value: the first one and what replaces it */
    STORM_VALUE_MAX = 128
};

struct storm_ids {
    uint32_t trace_id[4], span_id[2];
    uint8_t flags;
};

static inline uint32_t storm_word(char writer, uint32_t number)
{
    return (uint32_t)(uint8_t)writer << 24 | (number & 0xffffff);
}

static inline struct storm_ids storm_ids(uint32_t word)
{
    return (struct storm_ids){
        {word, word, word, word}, {word, word}, (uint8_t)(word & 3)};
}

/* Writes a value, whose length varies. Returns its size. Signal handlers call
 * it, so it cannot use stdio. */
static inline size_t storm_value(uint32_t word, unsigned key, unsigned variant,
                                 char value[STORM_VALUE_MAX])
{
    const size_t fill = (word + key + 29 * variant) % 64;
    size_t size = 0;

    for (int shift = 28; shift >= 0; shift -= 4)
        value[size++] = "0123456789abcdef"[word >> shift & 0xf];
    value[size++] = (char)('0' + key);
    value[size++] = (char)('0' + variant);
    memset(value + size, (int)('a' + word % 26), fill);
    return size + fill;
}
