/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes JSON without blanks. The writer places the commas: in front of every
 * key of an object and every element of an array but the first.
 */
struct otelbase_json {
    FILE *out;  /* set by the caller */
    bool comma; /* the next key or element needs a comma in front */
};

/* '{' or '[', and what closes it. */
void otelbase_json_open(struct otelbase_json *json, char bracket);
void otelbase_json_close(struct otelbase_json *json, char bracket);

/* Of an object; the next call writes its value. The name is not escaped. */
void otelbase_json_key(struct otelbase_json *json, const char *name);

/*
 * Bytes as a string. What is not UTF-8 becomes U+FFFD, byte by byte; controls,
 * line separators and what reorders text are escaped, for terminals.
 */
void otelbase_json_string(struct otelbase_json *json, const void *text,
                          size_t size);

/* The same of a string of C. */
void otelbase_json_text(struct otelbase_json *json, const char *text);

/* A key whose name may be anything; it is escaped likewise. */
void otelbase_json_name(struct otelbase_json *json, const char *name);

/* Bytes as a string of hexadecimal digits. */
void otelbase_json_hex(struct otelbase_json *json, const uint8_t *bytes,
                       size_t size);

/* Bytes as a string in base64. Rule: RFC 4648, section 4. */
void otelbase_json_base64(struct otelbase_json *json, const uint8_t *bytes,
                          size_t size);

/* As printf(3): a number, true, false or null. */
__attribute__((format(printf, 2, 3))) void
otelbase_json_literal(struct otelbase_json *json, const char *format, ...);

/* The same in quotes: 64-bit numbers are strings. Nothing is escaped. */
__attribute__((format(printf, 2, 3))) void
otelbase_json_quoted(struct otelbase_json *json, const char *format, ...);
