/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The longest form of one character or one stray byte, with its NUL. */
#define OTELBASE_ESCAPE_MAX 16

/*
 * Makes text of another process harmless for a terminal and for a line of a
 * log: control characters, what reorders text (bidi overrides and
 * isolates), line separators, quotes, backslashes and bytes that are not UTF-8
 * come out as \n, \t, \r, \", \\, \xHH (bytes below 0x80 and stray ones) or
 * \u{HHHH}. Everything else comes out as it is.
 */

/* The next character, as a string. Returns the bytes taken: 0 at the end. */
size_t otelbase_escape_next(const uint8_t *text, size_t size,
                            char out[OTELBASE_ESCAPE_MAX]);

/* How many columns of a terminal the escaped text takes at most. */
size_t otelbase_escape_width(const void *text, size_t size);

void otelbase_escape_print(FILE *out, const void *text, size_t size);

/* At most limit characters of the text; "..." when there is more. */
void otelbase_escape_print_start(FILE *out, const void *text, size_t size,
                                 size_t limit);

/* At most so many columns; "..." at the end when there is more. */
void otelbase_escape_print_cut(FILE *out, const void *text, size_t size,
                               size_t columns);

/* Into a buffer, NUL-terminated; "..." at the end when it does not fit. */
void otelbase_escape_copy(char *out, size_t out_size, const void *text,
                          size_t size);
