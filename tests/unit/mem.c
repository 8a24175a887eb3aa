/* SPDX-License-Identifier: Apache-2.0 */

#include <criterion/criterion.h>
#include <string.h>

/* The shim's own string.h, under other names and against libc's. */
#define memcpy  own_memcpy
#define memmove own_memmove
#define memset  own_memset
#define memcmp  own_memcmp
#define memchr  own_memchr
#define strlen  own_strlen
#define strncmp own_strncmp
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "shim/mem.c" /* NOLINT(bugprone-suspicious-include) */
#pragma GCC diagnostic pop
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef memchr
#undef strlen
#undef strncmp

/* A buffer where each byte tells where it came from. */
static void number(uint8_t bytes[64])
{
    for (int i = 0; i < 64; i++)
        bytes[i] = (uint8_t)i;
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

Test(memmove, agrees_with_libc_over_every_overlap)
{
    uint8_t ours[64], libcs[64];

    for (size_t to = 0; to < 24; to++)
        for (size_t from = 0; from < 24; from++)
            for (size_t size = 0; size <= 40; size++) {
                number(ours);
                number(libcs);
                cr_assert_eq(own_memmove(ours + to, ours + from, size),
                             ours + to);
                memmove(libcs + to, libcs + from, size);
                cr_assert_arr_eq(ours, libcs, 64, "%zu <- %zu, %zu", to, from,
                                 size);
            }
}

Test(memcpy, agrees_with_libc)
{
    uint8_t ours[64] = {0}, libcs[64] = {0}, from[64];

    number(from);
    for (size_t size = 0; size <= 64; size++) {
        own_memcpy(ours, from, size);
        memcpy(libcs, from, size);
        cr_assert_arr_eq(ours, libcs, 64);
    }
}

Test(memset, agrees_with_libc)
{
    uint8_t ours[64], libcs[64];

    for (size_t size = 0; size <= 60; size++) {
        number(ours);
        number(libcs);
        own_memset(ours + 1, -2, size);
        memset(libcs + 1, -2, size);
        cr_assert_arr_eq(ours, libcs, 64);
    }
}

Test(memcmp, agrees_with_libc)
{
    const char *texts[] = {"", "a", "b", "ab", "aa", "\xff", "a\xff"};

    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++) {
            const size_t a = strlen(texts[i]), b = strlen(texts[j]);
            const size_t size = a < b ? a : b;

            cr_expect_eq(sign(own_memcmp(texts[i], texts[j], size)),
                         sign(memcmp(texts[i], texts[j], size)));
            for (size_t n = 0; n < 4; n++)
                cr_expect_eq(sign(own_strncmp(texts[i], texts[j], n)),
                             sign(strncmp(texts[i], texts[j], n)));
        }
}

Test(memchr, agrees_with_libc)
{
    const char text[] = "abc\xff"
                        "cba";

    for (int byte = 0; byte < 256; byte++)
        for (size_t size = 0; size <= sizeof(text); size++)
            cr_expect_eq(own_memchr(text, byte, size),
                         memchr(text, byte, size));
}

Test(strlen, agrees_with_libc)
{
    cr_expect_eq(own_strlen(""), 0);
    cr_expect_eq(own_strlen("abc"), 3);
}
