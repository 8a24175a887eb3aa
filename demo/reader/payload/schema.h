/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/cursor.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The messages of process_context.proto, resource.proto and common.proto, as
 * far as a process context is made of them.
 */

enum otelread_form {
    OTELREAD_FORM_MESSAGE,
    OTELREAD_FORM_STRING,
    OTELREAD_FORM_BYTES,
    OTELREAD_FORM_BOOL,
    OTELREAD_FORM_INT,
    OTELREAD_FORM_UINT,
    OTELREAD_FORM_DOUBLE,
};

/* Field numbers, as in the .proto files. */
enum {
    CONTEXT_RESOURCE = 1,
    CONTEXT_EXTRA_ATTRIBUTES = 2
};
enum {
    RESOURCE_ATTRIBUTES = 1,
    RESOURCE_DROPPED_COUNT = 2,
    RESOURCE_ENTITY_REFS = 3
};
enum {
    ENTITY_SCHEMA_URL = 1,
    ENTITY_TYPE = 2,
    ENTITY_ID_KEYS = 3,
    ENTITY_DESCRIPTION_KEYS = 4
};
enum {
    PAIR_KEY = 1,
    PAIR_VALUE = 2
};
enum {
    LIST_VALUES = 1
}; /* of ArrayValue and of KeyValueList */
enum {
    VALUE_STRING = 1,
    VALUE_BOOL = 2,
    VALUE_INT = 3,
    VALUE_DOUBLE = 4,
    VALUE_ARRAY = 5,
    VALUE_KVLIST = 6,
    VALUE_BYTES = 7,
};

struct otelread_schema;

struct otelread_schema_field {
    uint32_t number;
    enum otelread_form form;
    const char *name;
    const struct otelread_schema *message; /* FORM_MESSAGE only */
};

struct otelread_schema {
    const char *name;
    const struct otelread_schema_field *fields;
    size_t count;
};

extern const struct otelread_schema otelread_schema_context;
extern const struct otelread_schema otelread_schema_resource;
extern const struct otelread_schema otelread_schema_entity;
extern const struct otelread_schema otelread_schema_pair;
extern const struct otelread_schema otelread_schema_value;
extern const struct otelread_schema otelread_schema_array;
extern const struct otelread_schema otelread_schema_kvlist;

/* The field of that number, or NULL: unknown, to be skipped. */
const struct otelread_schema_field *
otelread_schema_find(const struct otelread_schema *schema, uint32_t number);

/* How the form is written. */
enum otelread_wire otelread_schema_wire(enum otelread_form form);
