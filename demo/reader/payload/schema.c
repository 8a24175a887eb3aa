/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/schema.h"

#define SCHEMA(message, table)                                                 \
    {                                                                          \
        .name = (message), .fields = (table),                                  \
        .count = sizeof(table) / sizeof((table)[0])                            \
    }

static const struct otelread_schema_field value_fields[] = {
    {VALUE_STRING, OTELREAD_FORM_STRING, "string_value", NULL},
    {VALUE_BOOL, OTELREAD_FORM_BOOL, "bool_value", NULL},
    {VALUE_INT, OTELREAD_FORM_INT, "int_value", NULL},
    {VALUE_DOUBLE, OTELREAD_FORM_DOUBLE, "double_value", NULL},
    {VALUE_ARRAY, OTELREAD_FORM_MESSAGE, "array_value", &otelread_schema_array},
    {VALUE_KVLIST, OTELREAD_FORM_MESSAGE, "kvlist_value",
     &otelread_schema_kvlist},
    {VALUE_BYTES, OTELREAD_FORM_BYTES, "bytes_value", NULL},
};
const struct otelread_schema otelread_schema_value =
    SCHEMA("AnyValue", value_fields);

static const struct otelread_schema_field array_fields[] = {
    {LIST_VALUES, OTELREAD_FORM_MESSAGE, "values", &otelread_schema_value},
};
const struct otelread_schema otelread_schema_array =
    SCHEMA("ArrayValue", array_fields);

static const struct otelread_schema_field kvlist_fields[] = {
    {LIST_VALUES, OTELREAD_FORM_MESSAGE, "values", &otelread_schema_pair},
};
const struct otelread_schema otelread_schema_kvlist =
    SCHEMA("KeyValueList", kvlist_fields);

static const struct otelread_schema_field pair_fields[] = {
    {PAIR_KEY, OTELREAD_FORM_STRING, "key", NULL},
    {PAIR_VALUE, OTELREAD_FORM_MESSAGE, "value", &otelread_schema_value},
};
const struct otelread_schema otelread_schema_pair =
    SCHEMA("KeyValue", pair_fields);

static const struct otelread_schema_field entity_fields[] = {
    {ENTITY_SCHEMA_URL, OTELREAD_FORM_STRING, "schema_url", NULL},
    {ENTITY_TYPE, OTELREAD_FORM_STRING, "type", NULL},
    {ENTITY_ID_KEYS, OTELREAD_FORM_STRING, "id_keys", NULL},
    {ENTITY_DESCRIPTION_KEYS, OTELREAD_FORM_STRING, "description_keys", NULL},
};
const struct otelread_schema otelread_schema_entity =
    SCHEMA("EntityRef", entity_fields);

static const struct otelread_schema_field resource_fields[] = {
    {RESOURCE_ATTRIBUTES, OTELREAD_FORM_MESSAGE, "attributes",
     &otelread_schema_pair},
    {RESOURCE_DROPPED_COUNT, OTELREAD_FORM_UINT, "dropped_attributes_count",
     NULL},
    {RESOURCE_ENTITY_REFS, OTELREAD_FORM_MESSAGE, "entity_refs",
     &otelread_schema_entity},
};
const struct otelread_schema otelread_schema_resource =
    SCHEMA("Resource", resource_fields);

static const struct otelread_schema_field context_fields[] = {
    {CONTEXT_RESOURCE, OTELREAD_FORM_MESSAGE, "resource",
     &otelread_schema_resource},
    {CONTEXT_EXTRA_ATTRIBUTES, OTELREAD_FORM_MESSAGE, "extra_attributes",
     &otelread_schema_pair},
};
const struct otelread_schema otelread_schema_context =
    SCHEMA("ProcessContext", context_fields);

const struct otelread_schema_field *
otelread_schema_find(const struct otelread_schema *schema, uint32_t number)
{
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->fields[i].number == number)
            return &schema->fields[i];
    }
    return NULL;
}

enum otelread_wire otelread_schema_wire(enum otelread_form form)
{
    switch (form) {
    case OTELREAD_FORM_BOOL:
    case OTELREAD_FORM_INT:
    case OTELREAD_FORM_UINT:
        return OTELREAD_VARINT;
    case OTELREAD_FORM_DOUBLE:
        return OTELREAD_FIXED64;
    case OTELREAD_FORM_MESSAGE:
    case OTELREAD_FORM_STRING:
    case OTELREAD_FORM_BYTES:
    default:
        return OTELREAD_LENGTH;
    }
}
