/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/json_attributes.h"

#include "demo/base/double.h"

#include <inttypes.h>
#include <math.h>

static void value_print(struct otelbase_json *json,
                        const struct otelread_node *node);

static void double_print(struct otelbase_json *json, double value)
{
    char text[OTELBASE_DOUBLE_SIZE];

    if (isnan(value)) {
        otelbase_json_text(json, "NaN");
    } else if (isinf(value)) {
        otelbase_json_text(json, value > 0 ? "Infinity" : "-Infinity");
    } else {
        otelbase_double_format(text, value);
        otelbase_json_literal(json, "%s", text);
    }
}

static void array_print(struct otelbase_json *json,
                        const struct otelread_list *list)
{
    otelbase_json_open(json, '[');
    for (const struct otelread_node *item = list->first; item;
         item = item->next)
        value_print(json, item);
    otelbase_json_close(json, ']');
}

/* ArrayValue and KeyValueList: an object with the one member "values". */
static void list_print(struct otelbase_json *json,
                       const struct otelread_node *node)
{
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "values");
    if (node->kind == OTELREAD_ARRAY)
        array_print(json, &node->list);
    else
        otelread_json_attributes_print(json, &node->list);
    otelbase_json_close(json, '}');
}

static void member_print(struct otelbase_json *json,
                         const struct otelread_node *node)
{
    static const char *const names[] = {
        [OTELREAD_STRING] = "stringValue", [OTELREAD_BOOL] = "boolValue",
        [OTELREAD_INT] = "intValue",       [OTELREAD_DOUBLE] = "doubleValue",
        [OTELREAD_ARRAY] = "arrayValue",   [OTELREAD_KVLIST] = "kvlistValue",
        [OTELREAD_BYTES] = "bytesValue",
    };

    otelbase_json_key(json, names[node->kind]);
    switch (node->kind) {
    case OTELREAD_STRING:
        otelbase_json_string(json, node->span.bytes, node->span.size);
        break;
    case OTELREAD_BOOL:
        otelbase_json_literal(json, node->truth ? "true" : "false");
        break;
    case OTELREAD_INT:
        otelbase_json_quoted(json, "%" PRId64, node->integer);
        break;
    case OTELREAD_DOUBLE:
        double_print(json, node->real);
        break;
    case OTELREAD_BYTES:
        otelbase_json_base64(json, node->span.bytes, node->span.size);
        break;
    case OTELREAD_ARRAY:
    case OTELREAD_KVLIST:
    case OTELREAD_EMPTY:
    default:
        list_print(json, node);
    }
}

static void value_print(struct otelbase_json *json,
                        const struct otelread_node *node)
{
    otelbase_json_open(json, '{');
    if (node->kind != OTELREAD_EMPTY)
        member_print(json, node);
    otelbase_json_close(json, '}');
}

void otelread_json_attributes_print(struct otelbase_json *json,
                                    const struct otelread_list *list)
{
    otelbase_json_open(json, '[');
    for (const struct otelread_node *node = list->first; node;
         node = node->next) {
        otelbase_json_open(json, '{');
        otelbase_json_key(json, "key");
        otelbase_json_string(json, node->key.bytes, node->key.size);
        otelbase_json_key(json, "value");
        value_print(json, node);
        otelbase_json_close(json, '}');
    }
    otelbase_json_close(json, ']');
}
