/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The next character of size bytes of text: its length, 1 to 4, and its code.
 * 0 when size is 0 or the bytes are not UTF-8; *code is then unchanged.
 * Rule: RFC 3629, so neither overlong forms nor surrogates. NUL is a character.
 */
size_t otelbase_utf8_next(const uint8_t *text, size_t size, uint32_t *code);

/* How many leading bytes are UTF-8: size, or the offset of the first fault. */
size_t otelbase_utf8_span(const uint8_t *text, size_t size);
