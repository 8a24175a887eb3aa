/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_JSON_WRITER_H
#define OTELREAD_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes JSON without blanks. The writer places the commas: in front of every
 * key of an object and every element of an array but the first.
 */
struct otelread_json {
    FILE *out;  /* set by the caller */
    bool comma; /* the next key or element needs a comma in front */
};

/* '{' or '[', and what closes it. */
void otelread_json_open(struct otelread_json *json, char bracket);
void otelread_json_close(struct otelread_json *json, char bracket);

/* Of an object; the next call writes its value. The name is not escaped. */
void otelread_json_key(struct otelread_json *json, const char *name);

/*
 * Bytes as a string. What is not UTF-8 becomes U+FFFD, byte by byte; controls,
 * line separators and what reorders text are escaped, for terminals.
 */
void otelread_json_string(struct otelread_json *json, const void *text,
                          size_t size);

/* The same of a string of C. */
void otelread_json_text(struct otelread_json *json, const char *text);

/* A key whose name may be anything; it is escaped likewise. */
void otelread_json_name(struct otelread_json *json, const char *name);

/* Bytes as a string of hexadecimal digits. */
void otelread_json_hex(struct otelread_json *json, const uint8_t *bytes,
                       size_t size);

/* Bytes as a string in base64. Rule: RFC 4648, section 4. */
void otelread_json_base64(struct otelread_json *json, const uint8_t *bytes,
                          size_t size);

/* As printf(3): a number, true, false or null. */
__attribute__((format(printf, 2, 3))) void
otelread_json_literal(struct otelread_json *json, const char *format, ...);

/* The same in quotes: 64-bit numbers are strings. Nothing is escaped. */
__attribute__((format(printf, 2, 3))) void
otelread_json_quoted(struct otelread_json *json, const char *format, ...);

#endif
