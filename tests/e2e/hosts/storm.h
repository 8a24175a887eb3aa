/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORM_H
#define STORM_H

/*
 * What the writers of hosts/stormer.c write: all of a context is derived from
 * one word, the writer's letter and a number of 24 bits that counts up. So a
 * context that was put together from two shows.
 */

#include <stdint.h>
#include <string.h>

/* Letters: the thread, in its own record and in one of the program's; the
 * handlers of the signals. */
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
        {word, word, word, word}, {word, word}, (uint8_t)(word & 0xff)};
}

/* Of many lengths. Returns the size. Not by stdio: signal handlers call it. */
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

#endif
