/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes one "hh" or "hh*count" off the text. Returns the rest of the text. */
static inline char *golden_item(char *text, uint8_t *byte, size_t *count)
{
    char *end;

    *byte = (uint8_t)strtoul(text, &end, 16);
    cr_assert_eq(end - text, 2, "not two hexadecimal digits: %s", text);
    *count = *end == '*' ? strtoul(end + 1, &end, 10) : 1;
    return end;
}

/*
 * Reads the bytes of tests/golden/NAME.hex: pairs of hexadecimal digits,
 * "hh*count" for repeated bytes, "#" before comments. Returns their number; the
 * test fails when there are none, or more than `room`.
 */
static inline size_t golden_read(const char *name, uint8_t *out, size_t room)
{
    char path[512], line[512];
    size_t size = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), OTELCTX_TESTS_DIR "/golden/%s.hex",
                   name);
    file = fopen(path, "r");
    cr_assert(file, "%s cannot be opened", path);
    while (fgets(line, sizeof(line), file)) {
        char *at = line + strspn(line, " \t\n");

        while (*at && *at != '#') {
            size_t count;
            uint8_t byte;

            at = golden_item(at, &byte, &count);
            cr_assert_leq(count, room - size, "%s is too long", path);
            memset(out + size, byte, count);
            size += count;
            at += strspn(at, " \t\n");
        }
    }
    (void)fclose(file);
    cr_assert_gt(size, 0, "%s is empty", path);
    return size;
}
