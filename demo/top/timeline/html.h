/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTIME_HTML_H
#define OTELTIME_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Bytes as text of HTML, also within quotes of an attribute. What is not UTF-8,
 * and what reorders text, becomes U+FFFD, and so do controls.
 */
void oteltime_html_text(FILE *out, const void *text, size_t size);

/* JSON for a script element: without any '<'. */
void oteltime_html_json(FILE *out, const char *json, size_t size);

/* Rule: RFC 4648, section 4. */
void oteltime_html_base64(FILE *out, const uint8_t *bytes, size_t size);

/* With a comma between thousands. */
void oteltime_html_number(FILE *out, uint64_t number);

/* "12.3 ms": three units, as many digits as people want. */
void oteltime_html_time(FILE *out, uint64_t ns);

/* "1.234": seconds, for columns. */
void oteltime_html_seconds(FILE *out, uint64_t ns);

#endif
