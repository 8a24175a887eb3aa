/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The functions of string.h that the shim calls, or that the compiler calls on
 * its own: the shim links to no libc. Only the shipped library contains this
 * file; the unit tests link the other sources to the libc's functions.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t unaligned_word __attribute__((aligned(1), may_alias));
typedef uint32_t unaligned_half __attribute__((aligned(1), may_alias));

static void copy_up(uint8_t *to, const uint8_t *from, size_t size)
{
    for (; size >= 8; size -= 8, to += 8, from += 8)
        *(unaligned_word *)to = *(const unaligned_word *)from;
    while (size-- > 0)
        *to++ = *from++;
}

static void copy_down(uint8_t *to, const uint8_t *from, size_t size)
{
    for (; size >= 8; size -= 8)
        *(unaligned_word *)(to + size - 8) =
            *(const unaligned_word *)(from + size - 8);
    while (size-- > 0)
        to[size] = from[size];
}

void *memmove(void *to, const void *from, size_t size)
{
    if ((uintptr_t)to - (uintptr_t)from >= size)
        copy_up(to, from, size);
    else
        copy_down(to, from, size);
    return to;
}

/* 16 bytes in one vector register. */
typedef uint64_t unaligned_pair
    __attribute__((vector_size(16), aligned(1), may_alias));

static inline void copy_pair(uint8_t *to, const uint8_t *from)
{
    *(unaligned_pair *)to = *(const unaligned_pair *)from;
}

/* Copies the last bytes in a block that overlaps the one before, instead of
 * byte by byte. */
void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    uint8_t *const out = to, *const end = out + size;
    const uint8_t *const in = from, *const last = in + size;

    if (size >= 16) {
        for (size_t at = 0; at + 32 < size; at += 32) {
            copy_pair(out + at, in + at);
            copy_pair(out + at + 16, in + at + 16);
        }
        if (size >= 32)
            copy_pair(end - 32, last - 32);
        else
            copy_pair(out, in);
        copy_pair(end - 16, last - 16);
    } else if (size >= 8) {
        *(unaligned_word *)out = *(const unaligned_word *)in;
        *(unaligned_word *)(end - 8) = *(const unaligned_word *)(last - 8);
    } else if (size >= 4) {
        *(unaligned_half *)out = *(const unaligned_half *)in;
        *(unaligned_half *)(end - 4) = *(const unaligned_half *)(last - 4);
    } else if (size > 0) {
        out[0] = in[0];
        out[size / 2] = in[size / 2];
        end[-1] = last[-1];
    }
    return to;
}

void *memset(void *at, int byte, size_t size)
{
    const uint64_t ones = 0x0101010101010101;
    const uint64_t bytes = ones * (uint8_t)byte;
    uint8_t *to = at;

    for (; size >= 8; size -= 8, to += 8)
        *(unaligned_word *)to = bytes;
    while (size-- > 0)
        *to++ = (uint8_t)byte;
    return at;
}

static bool same_word(const uint8_t *x, const uint8_t *y)
{
    return *(const unaligned_word *)x == *(const unaligned_word *)y;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const uint8_t *x = a, *y = b;

    for (; size > 8 && same_word(x, y); size -= 8, x += 8, y += 8)
        ;
    /* The last word may overlap bytes that are known to be equal. */
    if (size < 8 && x != a) {
        x -= 8 - size;
        y -= 8 - size;
        size = 8;
    }
    if (size == 8 && same_word(x, y))
        return 0;
    for (; size > 0; size--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

/* In parentheses, because memchr is a macro in glibc 2.43 and later. */
void *(memchr)(const void *at, int byte, size_t size)
{
    const uint64_t ones = 0x0101010101010101;
    const uint64_t bytes = ones * (uint8_t)byte;
    const uint8_t *from = at;

    for (; size >= 8; size -= 8, from += 8) {
        const uint64_t word = *(const unaligned_word *)from ^ bytes;
        const uint64_t zeros = (word - ones) & ~word & ones << 7;

        if (zeros)
            return (void *)(uintptr_t)(from +
                                       (unsigned)__builtin_ctzll(zeros) / 8);
    }
    for (; size > 0; size--, from++)
        if (*from == (uint8_t)byte)
            return (void *)(uintptr_t)from;
    return NULL;
}

/* Reads words, because the last step of a loop over bytes is mispredicted. The
 * words are aligned, so bytes read outside the text are in the same page as
 * the text. Valgrind permits that; ASan does not, so it skips this function. */
__attribute__((no_sanitize("address"))) size_t strlen(const char *text)
{
    const uint64_t ones = 0x0101010101010101;
    const unsigned before = (uintptr_t)text % 8;
    const unaligned_word *at = (const void *)(text - before);
    uint64_t word = *at | (((uint64_t)1 << 8 * before) - 1), zeros;

    while ((zeros = (word - ones) & ~word & ones << 7) == 0)
        word = *++at;
    return (size_t)((const char *)at - text) +
           (unsigned)__builtin_ctzll(zeros) / 8;
}

int strncmp(const char *a, const char *b, size_t size)
{
    for (; size > 0; size--, a++, b++)
        if (*a != *b || !*a)
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}
