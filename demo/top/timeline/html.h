/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes bytes as text of HTML, also for quoted attributes. U+FFFD replaces
 * bytes that are not UTF-8, characters that reorder text, and control
 * characters. */
void oteltime_html_text(FILE *out, const void *text, size_t size);

/* Writes JSON for a script element: without any '<'. */
void oteltime_html_json(FILE *out, const char *json, size_t size);

/* Rule: RFC 4648, section 4. */
void oteltime_html_base64(FILE *out, const uint8_t *bytes, size_t size);

/* Writes a number with commas between thousands. */
void oteltime_html_number(FILE *out, uint64_t number);

/* "12.3 ms": three units, as many digits as people want. */
void oteltime_html_time(FILE *out, uint64_t ns);

/* "1.234": seconds, for columns. */
void oteltime_html_seconds(FILE *out, uint64_t ns);
