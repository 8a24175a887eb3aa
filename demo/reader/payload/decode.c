/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/decode.h"

#include "demo/base/escape.h"
#include "demo/base/utf8.h"
#include "demo/reader/payload/cursor.h"
#include "demo/reader/payload/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Every node comes from a message of at least two bytes, so the payload has at
 * most half as many nodes as bytes.
 */
struct otelread_node *otelread_decoded_append(struct otelread_decoded *decoded,
                                              struct otelread_list *list)
{
    struct otelread_node *const node = &decoded->nodes[decoded->nodes_used++];

    if (list->last)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
    list->count++;
    return node;
}

/* The next known field of the message; unknown ones are skipped. */
static bool next_known(struct otelread_cursor *cursor,
                       const struct otelread_schema *schema,
                       struct otelread_field *field)
{
    while (otelread_cursor_next(cursor, field)) {
        const struct otelread_schema_field *const known =
            otelread_schema_find(schema, field->number);

        if (!known)
            continue;
        if (field->wire == otelread_schema_wire(known->form))
            return true;
        otelread_cursor_fail(cursor, field->start,
                             "%s.%s has wire type %d instead of %d",
                             schema->name, known->name, (int)field->wire,
                             (int)otelread_schema_wire(known->form));
    }
    return false;
}

static struct otelread_span field_span(const struct otelread_cursor *cursor,
                                       const struct otelread_field *field)
{
    return (struct otelread_span){cursor->payload + field->body,
                                  field->end - field->body};
}

/* proto3: a string is UTF-8, or the whole message is invalid. */
static struct otelread_span take_string(const struct otelread_cursor *cursor,
                                        const struct otelread_field *field,
                                        const char *what)
{
    const struct otelread_span span = field_span(cursor, field);
    const size_t valid = otelbase_utf8_span(span.bytes, span.size);

    if (valid < span.size)
        otelread_cursor_fail(cursor, field->body + valid,
                             "invalid UTF-8 (0x%02x) in %s", span.bytes[valid],
                             what);
    return span;
}

static void decode_value(struct otelread_decoded *decoded,
                         struct otelread_cursor cursor,
                         struct otelread_node *node, unsigned depth);

static void decode_pair(struct otelread_decoded *decoded,
                        struct otelread_cursor cursor,
                        struct otelread_node *node, unsigned depth)
{
    struct otelread_field field;

    while (next_known(&cursor, &otelread_schema_pair, &field)) {
        if (field.number == PAIR_KEY)
            node->key = take_string(&cursor, &field, "a key");
        else
            decode_value(decoded, otelread_cursor_enter(&cursor, &field), node,
                         depth);
    }
}

/* An ArrayValue or a KeyValueList. A repeated one appends: messages merge. */
static void decode_list(struct otelread_decoded *decoded,
                        struct otelread_cursor cursor,
                        struct otelread_node *node, enum otelread_kind kind,
                        unsigned depth)
{
    const bool pairs = kind == OTELREAD_KVLIST;
    struct otelread_field field;

    if (depth > OTELREAD_DEPTH_MAX) {
        otelread_cursor_fail(&cursor, cursor.at,
                             "more than %d arrays and lists inside each other",
                             OTELREAD_DEPTH_MAX);
        return;
    }
    if (node->kind != kind)
        node->list = (struct otelread_list){.first = NULL};
    node->kind = kind;

    while (next_known(&cursor,
                      pairs ? &otelread_schema_kvlist : &otelread_schema_array,
                      &field)) {
        struct otelread_node *const item =
            otelread_decoded_append(decoded, &node->list);

        (pairs ? decode_pair : decode_value)(
            decoded, otelread_cursor_enter(&cursor, &field), item, depth);
    }
}

static double double_of(uint64_t bits)
{
    double value;

    (void)memcpy(&value, &bits, sizeof(value));
    return value;
}

static void decode_member(struct otelread_decoded *decoded,
                          const struct otelread_cursor *cursor,
                          const struct otelread_field *field,
                          struct otelread_node *node, unsigned depth)
{
    switch (field->number) {
    case VALUE_STRING:
        node->kind = OTELREAD_STRING;
        node->span = take_string(cursor, field, "a string value");
        break;
    case VALUE_BOOL:
        node->kind = OTELREAD_BOOL;
        node->truth = field->value != 0;
        break;
    case VALUE_INT:
        node->kind = OTELREAD_INT;
        node->integer = (int64_t)field->value;
        break;
    case VALUE_DOUBLE:
        node->kind = OTELREAD_DOUBLE;
        node->real = double_of(field->value);
        break;
    case VALUE_BYTES:
        node->kind = OTELREAD_BYTES;
        node->span = field_span(cursor, field);
        break;
    default:
        decode_list(decoded, otelread_cursor_enter(cursor, field), node,
                    field->number == VALUE_ARRAY ? OTELREAD_ARRAY
                                                 : OTELREAD_KVLIST,
                    depth + 1);
    }
}

static void decode_value(struct otelread_decoded *decoded,
                         struct otelread_cursor cursor,
                         struct otelread_node *node, unsigned depth)
{
    struct otelread_field field;

    while (next_known(&cursor, &otelread_schema_value, &field))
        decode_member(decoded, &cursor, &field, node, depth);
}

/* The key may come after the value that is at fault, or be at fault itself. */
static struct otelread_span find_key(struct otelread_cursor cursor)
{
    struct otelread_fault ignored = {.offset = 0};
    struct otelread_span key = {NULL, 0};
    struct otelread_field field;

    cursor.fault = &ignored;
    while (otelread_cursor_next(&cursor, &field)) {
        if (field.number == PAIR_KEY && field.wire == OTELREAD_LENGTH)
            key = field_span(&cursor, &field);
    }
    return key;
}

static void name_attribute(struct otelread_fault *fault, const char *what,
                           size_t count, struct otelread_span key)
{
    char text[64];

    otelbase_escape_copy(text, sizeof(text), key.bytes, key.size);
    if (key.size > 0)
        (void)snprintf(fault->where, sizeof(fault->where),
                       "%s attribute \"%s\"", what, text);
    else
        (void)snprintf(fault->where, sizeof(fault->where),
                       "%s attribute number %zu", what, count);
}

static void decode_attribute(struct otelread_decoded *decoded,
                             const struct otelread_cursor *outer,
                             const struct otelread_field *field,
                             struct otelread_list *list, const char *what)
{
    const struct otelread_cursor cursor = otelread_cursor_enter(outer, field);

    decode_pair(decoded, cursor, otelread_decoded_append(decoded, list), 0);
    if (otelread_fault_found(cursor.fault))
        name_attribute(cursor.fault, what, list->count, find_key(cursor));
}

/* OTLP, EntityRef: the keys are those of attributes of the resource. */
static void decode_entity(struct otelread_decoded *decoded,
                          struct otelread_cursor cursor)
{
    struct otelread_entity *const entity =
        &decoded->entities[decoded->entities_count++];
    struct otelread_field field;

    while (next_known(&cursor, &otelread_schema_entity, &field)) {
        const struct otelread_span text =
            take_string(&cursor, &field, "an entity reference");
        struct otelread_node *key;

        if (field.number == ENTITY_TYPE) {
            entity->type = text;
        } else if (field.number == ENTITY_SCHEMA_URL) {
            entity->schema_url = text;
        } else {
            key = otelread_decoded_append(decoded,
                                          field.number == ENTITY_ID_KEYS
                                              ? &entity->id_keys
                                              : &entity->description_keys);
            key->kind = OTELREAD_STRING;
            key->span = text;
        }
    }
}

static void decode_resource(struct otelread_decoded *decoded,
                            struct otelread_cursor cursor)
{
    struct otelread_field field;

    while (next_known(&cursor, &otelread_schema_resource, &field)) {
        if (field.number == RESOURCE_ATTRIBUTES)
            decode_attribute(decoded, &cursor, &field, &decoded->resource,
                             "resource");
        else if (field.number == RESOURCE_DROPPED_COUNT)
            decoded->resource_dropped = (uint32_t)field.value;
        else
            decode_entity(decoded, otelread_cursor_enter(&cursor, &field));
    }
}

static void decode_context(struct otelread_decoded *decoded,
                           struct otelread_cursor cursor)
{
    struct otelread_field field;

    while (next_known(&cursor, &otelread_schema_context, &field)) {
        if (field.number == CONTEXT_RESOURCE)
            decode_resource(decoded, otelread_cursor_enter(&cursor, &field));
        else
            decode_attribute(decoded, &cursor, &field, &decoded->extra,
                             "extra");
    }
}

int otelread_decoded_begin(struct otelread_decoded *decoded, size_t size)
{
    *decoded = (struct otelread_decoded){.nodes_used = 0};
    decoded->nodes = calloc(size / 2 + 1, sizeof(*decoded->nodes));
    decoded->entities = calloc(size / 2 + 1, sizeof(*decoded->entities));
    if (decoded->nodes && decoded->entities)
        return 0;
    otelread_decoded_free(decoded);
    return -ENOMEM;
}

typedef void decode_message(struct otelread_decoded *decoded,
                            struct otelread_cursor cursor);

static int decode(decode_message *message, const uint8_t *payload, size_t size,
                  struct otelread_decoded *out, struct otelread_fault *fault)
{
    *fault = (struct otelread_fault){.offset = 0};
    if (otelread_decoded_begin(out, size) != 0)
        return -ENOMEM;

    message(out, (struct otelread_cursor){
                     .payload = payload, .at = 0, .end = size, .fault = fault});
    if (!otelread_fault_found(fault))
        return 0;
    otelread_decoded_free(out);
    return -EBADMSG;
}

int otelread_decode(const uint8_t *payload, size_t size,
                    struct otelread_decoded *out, struct otelread_fault *fault)
{
    return decode(decode_context, payload, size, out, fault);
}

int otelread_decode_resource(const uint8_t *payload, size_t size,
                             struct otelread_decoded *out,
                             struct otelread_fault *fault)
{
    return decode(decode_resource, payload, size, out, fault);
}

void otelread_decoded_free(struct otelread_decoded *decoded)
{
    free(decoded->nodes);
    free(decoded->entities);
    *decoded = (struct otelread_decoded){.nodes_used = 0};
}
