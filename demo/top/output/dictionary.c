/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/dictionary.h"

#include "demo/top/output/buffer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOCATION "{\"lines\":[{\"functionIndex\":%zu}]}"

/* ---- entries ------------------------------------------------------------ */

static bool entry_open(struct oteltop_dictionary *dictionary,
                       struct oteltop_buffer *buffer,
                       struct otelbase_json *json)
{
    const int error = oteltop_buffer_open(buffer);

    if (error != 0)
        dictionary->error = error;
    *json = (struct otelbase_json){.out = buffer->out};
    return error == 0;
}

/* Closes the entry. Returns its index in the table. */
static size_t entry_close(struct oteltop_dictionary *dictionary,
                          struct oteltop_buffer *buffer,
                          struct oteltop_names *table)
{
    const size_t before = table->count;
    size_t index = 0;
    const int error = oteltop_buffer_close(buffer);

    if (error == 0)
        index = oteltop_names_number(table, buffer->data);
    if (table->count > before)
        dictionary->size += buffer->size + 1;
    if (error != 0 || table->is_short)
        dictionary->error = -ENOMEM;
    free(buffer->data);
    return index;
}

size_t oteltop_dictionary_string(struct oteltop_dictionary *dictionary,
                                 const char *text)
{
    struct oteltop_buffer buffer;
    struct otelbase_json json;

    if (!entry_open(dictionary, &buffer, &json))
        return 0;
    otelbase_json_text(&json, text);
    return entry_close(dictionary, &buffer, &dictionary->strings);
}

static void index_write(struct otelbase_json *json, const char *key,
                        size_t index)
{
    otelbase_json_key(json, key);
    otelbase_json_literal(json, "%zu", index);
}

void oteltop_dictionary_value(struct otelbase_json *json, const char *text,
                              uint64_t number)
{
    otelbase_json_open(json, '{');
    otelbase_json_key(json, text ? "stringValue" : "intValue");
    if (text)
        otelbase_json_text(json, text);
    else
        otelbase_json_quoted(json, "%" PRIu64, number);
    otelbase_json_close(json, '}');
}

size_t oteltop_dictionary_attribute(struct oteltop_dictionary *dictionary,
                                    const char *key, const char *text,
                                    uint64_t number)
{
    struct oteltop_buffer buffer;
    struct otelbase_json json;

    if (!entry_open(dictionary, &buffer, &json))
        return 0;
    otelbase_json_open(&json, '{');
    index_write(&json, "keyStrindex",
                oteltop_dictionary_string(dictionary, key));
    otelbase_json_key(&json, "value");
    oteltop_dictionary_value(&json, text, number);
    otelbase_json_close(&json, '}');
    return entry_close(dictionary, &buffer, &dictionary->attributes);
}

/* A function, and the location that has the same index. */
static size_t frame(struct oteltop_dictionary *dictionary, const char *name)
{
    const size_t before = dictionary->functions.count;
    struct oteltop_buffer buffer;
    struct otelbase_json json;
    size_t index;

    if (!entry_open(dictionary, &buffer, &json))
        return 0;
    otelbase_json_open(&json, '{');
    index_write(&json, "nameStrindex",
                oteltop_dictionary_string(dictionary, name));
    otelbase_json_close(&json, '}');
    index = entry_close(dictionary, &buffer, &dictionary->functions);
    if (dictionary->functions.count > before)
        dictionary->size += sizeof(LOCATION);
    return index;
}

/* The innermost frame comes first. */
size_t oteltop_dictionary_stack(struct oteltop_dictionary *dictionary,
                                const struct oteltop_dimensions *by,
                                const struct oteltop_cell *cell)
{
    char room[OTELTOP_VALUE_SIZE];
    struct oteltop_buffer buffer;
    struct otelbase_json json;

    if (!entry_open(dictionary, &buffer, &json))
        return 0;
    otelbase_json_open(&json, '{');
    otelbase_json_key(&json, "locationIndices");
    otelbase_json_open(&json, '[');
    for (size_t i = by->count; i-- > 0;)
        otelbase_json_literal(&json, "%zu",
                              frame(dictionary, oteltop_dimension_value(
                                                    by->names[i], cell, room)));
    otelbase_json_close(&json, ']');
    otelbase_json_close(&json, '}');
    return entry_close(dictionary, &buffer, &dictionary->stacks);
}

/* A link needs both: W3C Trace Context, "trace-id" and "parent-id". */
static bool has_valid_ids(const struct oteltop_span *span)
{
    static const uint8_t none[sizeof(span->trace_id)];

    return memcmp(span->trace_id, none, sizeof(span->trace_id)) != 0 &&
           memcmp(span->span_id, none, sizeof(span->span_id)) != 0;
}

size_t oteltop_dictionary_link(struct oteltop_dictionary *dictionary,
                               const struct oteltop_span *span)
{
    struct oteltop_buffer buffer;
    struct otelbase_json json;

    if (!span || !has_valid_ids(span) ||
        !entry_open(dictionary, &buffer, &json))
        return 0;
    otelbase_json_open(&json, '{');
    otelbase_json_key(&json, "traceId");
    otelbase_json_hex(&json, span->trace_id, sizeof(span->trace_id));
    otelbase_json_key(&json, "spanId");
    otelbase_json_hex(&json, span->span_id, sizeof(span->span_id));
    otelbase_json_close(&json, '}');
    return entry_close(dictionary, &buffer, &dictionary->links);
}

/* ---- tables ------------------------------------------------------------- */

static void table_write(struct otelbase_json *json, const char *key,
                        const char *zero, const struct oteltop_names *table)
{
    otelbase_json_key(json, key);
    otelbase_json_open(json, '[');
    otelbase_json_literal(json, "%s", zero);
    for (size_t i = 1; i < table->count; i++)
        otelbase_json_literal(json, "%s", table->list[i]);
    otelbase_json_close(json, ']');
}

static void locations_write(struct otelbase_json *json,
                            const struct oteltop_names *functions)
{
    otelbase_json_key(json, "locationTable");
    otelbase_json_open(json, '[');
    otelbase_json_literal(json, "{}");
    for (size_t i = 1; i < functions->count; i++)
        otelbase_json_literal(json, LOCATION, i);
    otelbase_json_close(json, ']');
}

void oteltop_dictionary_write(struct otelbase_json *json,
                              const struct oteltop_dictionary *dictionary)
{
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "mappingTable");
    otelbase_json_literal(json, "[{}]");
    locations_write(json, &dictionary->functions);
    table_write(json, "functionTable", "{}", &dictionary->functions);
    table_write(json, "linkTable",
                "{\"traceId\":\"00000000000000000000000000000000\","
                "\"spanId\":\"0000000000000000\"}",
                &dictionary->links);
    table_write(json, "stringTable", "\"\"", &dictionary->strings);
    table_write(json, "attributeTable", "{}", &dictionary->attributes);
    table_write(json, "stackTable", "{}", &dictionary->stacks);
    otelbase_json_close(json, '}');
}

void oteltop_dictionary_free(struct oteltop_dictionary *dictionary)
{
    oteltop_names_free(&dictionary->strings);
    oteltop_names_free(&dictionary->functions);
    oteltop_names_free(&dictionary->stacks);
    oteltop_names_free(&dictionary->links);
    oteltop_names_free(&dictionary->attributes);
    *dictionary = (struct oteltop_dictionary){.size = 0};
}
