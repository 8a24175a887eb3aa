/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_PRINT_H
#define OTELREAD_PRINT_H

#include "demo/reader/report.h"

#include <stddef.h>
#include <stdio.h>

/* Room for any double, with its NUL. */
#define OTELREAD_DOUBLE_SIZE 32

/* For people: several lines, attributes sorted by key. */
void otelread_text_print(FILE *out, const struct otelread_report *report);

/* For programs: one line, described in otelctx-read(1), "JSON". */
void otelread_json_print(FILE *out, const struct otelread_report *report);

/* Every byte of headers and payloads, a field a line. */
void otelread_raw_print(FILE *out, const struct otelread_report *report);

/* The first lines of the readable forms. */
void otelread_title_print(FILE *out, const struct otelread_report *report);
void otelread_mapping_print(FILE *out, const struct otelread_mapping *mapping);

/* The part of those two that --threads adds; nothing without it. */
void otelread_text_threads_print(FILE *out,
                                 const struct otelread_report *report);
void otelread_json_threads_print(FILE *out,
                                 const struct otelread_report *report);

/*
 * Bytes as a string of JSON, and attributes in the JSON mapping of OTLP. What
 * is not UTF-8 becomes U+FFFD, byte by byte.
 */
void otelread_json_string_print(FILE *out, const void *text, size_t size);
void otelread_json_attributes_print(FILE *out,
                                    const struct otelread_list *list);

/* A line each, sorted by key, behind so many blanks. */
void otelread_text_attributes_print(FILE *out, const struct otelread_list *list,
                                    unsigned indent);

/* The shortest decimal that reads back as the same finite double. */
void otelread_double_format(char out[OTELREAD_DOUBLE_SIZE], double value);

#endif
