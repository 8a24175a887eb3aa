/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What string.h promises, for an object that links to no libc: what the code
 * uses, and what the compiler calls on its own. In the shipped library only.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t unaligned_word __attribute__((aligned(1), may_alias));

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

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    return memmove(to, from, size);
}

void *memset(void *at, int byte, size_t size)
{
    for (uint8_t *to = at; size-- > 0;)
        *to++ = (uint8_t)byte;
    return at;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const uint8_t *x = a, *y = b;

    for (; size > 0; size--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

void *memchr(const void *at, int byte, size_t size)
{
    for (const uint8_t *from = at; size > 0; size--, from++)
        if (*from == (uint8_t)byte)
            return (void *)(uintptr_t)from;
    return NULL;
}

size_t strlen(const char *text)
{
    size_t size = 0;

    while (text[size])
        size++;
    return size;
}

int strncmp(const char *a, const char *b, size_t size)
{
    for (; size > 0; size--, a++, b++)
        if (*a != *b || !*a)
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}
