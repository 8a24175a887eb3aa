/* SPDX-License-Identifier: Apache-2.0 */

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The shim's functions, renamed so that the tests can compare with libc's. */
#undef memchr /* a macro in glibc 2.43 and later */
#define memcpy  own_memcpy
#define memmove own_memmove
#define memset  own_memset
#define memcmp  own_memcmp
#define memchr  own_memchr
#define strlen  own_strlen
#define strncmp own_strncmp
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "shim/base/string.c" /* NOLINT(bugprone-suspicious-include) */
#pragma GCC diagnostic pop
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef memchr
#undef strlen
#undef strncmp

/* Give each byte the value of its index. */
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
    uint8_t ours[256] = {0}, libcs[256] = {0}, from[256];

    for (size_t size = 0; size <= 200; size++)
        for (size_t at = 0; at <= 17; at++) {
            memset(from, (int)(size + at), sizeof(from));
            for (size_t i = 0; i < size; i++)
                from[at + i] = (uint8_t)(i + 1);
            cr_assert_eq(own_memcpy(ours + 17 - at, from + at, size),
                         ours + 17 - at);
            memcpy(libcs + 17 - at, from + at, size);
            cr_assert_arr_eq(ours, libcs, sizeof(ours), "%zu bytes", size);
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

Test(memcmp, finds_every_difference)
{
    uint8_t a[64], b[64];

    for (size_t size = 0; size <= 40; size++)
        for (size_t at = 0; at <= size; at++) {
            number(a);
            number(b);
            cr_expect_eq(own_memcmp(a, b, size), 0);
            b[at] = 0xff; /* the last one is past the end */
            cr_expect_eq(sign(own_memcmp(a, b, size)), sign(memcmp(a, b, size)),
                         "%zu of %zu", at, size);
            cr_expect_eq(sign(own_memcmp(b, a, size)),
                         sign(memcmp(b, a, size)));
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
    /* strlen reads whole words: bytes before and after the text must not count,
     * and must not be in the next page. */
    const uint8_t others[] = {0x01, 'a', 0x7f, 0x80, 0x81, 0xff};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(at, MAP_FAILED);
    cr_assert_eq(mprotect(at + page, page, PROT_NONE), 0);
    for (size_t k = 0; k < sizeof(others); k++)
        for (size_t size = 0; size <= 40; size++)
            for (size_t behind = 0; behind <= 8; behind++) {
                char *const text = at + page - behind - size - 1;

                memset(at, k % 2 == 0 ? 0 : others[k], page);
                memset(text, others[k], size);
                text[size] = '\0';
                cr_assert_eq(own_strlen(text), size, "%zu of 0x%02x", size,
                             others[k]);
            }
    munmap(at, 2 * page);
}
