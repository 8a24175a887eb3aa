/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/json_writer.h"
#include "demo/top/output/names.h"
#include "demo/top/table/dimension.h"
#include "demo/top/table/window.h"

#include <stddef.h>
#include <stdint.h>

/* The tables that OTLP profiles refer to by an index. Index 0 of each table is
 * the empty entry. Begin with all zero. Rule: profiles.proto of
 * opentelemetry-proto, ProfilesDictionary. */
struct oteltop_dictionary {
    struct oteltop_names strings; /* the entries are JSON */
    struct oteltop_names functions;
    struct oteltop_names stacks;
    struct oteltop_names links;
    struct oteltop_names attributes;
    size_t size; /* size of all tables, in bytes of JSON */
    int error; /* -ENOMEM: an entry is missing, and its index was given as 0 */
};

/* The index of a text that is not empty, a new one if need be. */
size_t oteltop_dictionary_string(struct oteltop_dictionary *dictionary,
                                 const char *text);

/* Likewise: an attribute that is a text, or if that is NULL a number. */
size_t oteltop_dictionary_attribute(struct oteltop_dictionary *dictionary,
                                    const char *key, const char *text,
                                    uint64_t number);

/* Likewise: the values of the dimensions, as frames. */
size_t oteltop_dictionary_stack(struct oteltop_dictionary *dictionary,
                                const struct oteltop_dimensions *by,
                                const struct oteltop_cell *cell);

/* Likewise; 0 for no span. */
size_t oteltop_dictionary_link(struct oteltop_dictionary *dictionary,
                               const struct oteltop_span *span);

/* Writes the value of an attribute: an AnyValue. */
void oteltop_dictionary_value(struct otelbase_json *json, const char *text,
                              uint64_t number);

/* Writes all tables, as an object. */
void oteltop_dictionary_write(struct otelbase_json *json,
                              const struct oteltop_dictionary *dictionary);

void oteltop_dictionary_free(struct oteltop_dictionary *dictionary);
