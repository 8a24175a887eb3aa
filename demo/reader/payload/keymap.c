/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/keymap.h"

#include "demo/base/escape.h"
#include "demo/reader/payload/list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Both have the same record: the first until the OTEP is stable. */
static const char *const schemas[] = {"tlsdesc_v1_dev", "tls_v1"};

static struct otelread_span span_of(const char *text)
{
    return (struct otelread_span){(const uint8_t *)text, strlen(text)};
}

static const struct otelread_node *
find_attribute(const struct otelread_list *list, const char *key)
{
    const struct otelread_node *found = NULL;

    for (const struct otelread_node *node = list->first; node;
         node = node->next) {
        if (otelread_span_equal(node->key, span_of(key)))
            found = node;
    }
    return found;
}

static bool schema_is_read(struct otelread_span schema)
{
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        if (otelread_span_equal(schema, span_of(schemas[i])))
            return true;
    }
    return false;
}

/* A key's index is its position, so elements that are no string count, too. */
static void take_keys(const struct otelread_list *list,
                      struct otelread_keymap *out)
{
    for (const struct otelread_node *node = list->first;
         node && out->count < OTELCTX_KEYS_MAX; node = node->next) {
        if (node->kind == OTELREAD_STRING)
            out->keys[out->count] = node->span;
        out->count++;
    }
}

static int other_schema(struct otelread_span schema, char *why, size_t why_size)
{
    char text[128];

    otelbase_escape_copy(text, sizeof(text), schema.bytes, schema.size);
    (void)snprintf(why, why_size,
                   "the schema is \"%s\", which says nothing about "
                   "thread-local storage that is known here",
                   text);
    return -EPROTONOSUPPORT;
}

int otelread_keymap_read(const struct otelread_list *extra,
                         struct otelread_keymap *out, char *why,
                         size_t why_size)
{
    const struct otelread_node *const schema =
        find_attribute(extra, OTELCTX_SCHEMA_VERSION_KEY);
    const struct otelread_node *const map =
        find_attribute(extra, OTELCTX_KEY_MAP_KEY);

    *out = (struct otelread_keymap){.count = 0};
    (void)snprintf(why, why_size, "%s", "");
    if (!schema) {
        (void)snprintf(why, why_size,
                       "there is no " OTELCTX_SCHEMA_VERSION_KEY
                       " in its process context");
        return -ENOENT;
    }
    if (schema->kind != OTELREAD_STRING) {
        (void)snprintf(why, why_size,
                       OTELCTX_SCHEMA_VERSION_KEY " is no string");
        return -EBADMSG;
    }
    out->schema = schema->span;
    if (!schema_is_read(schema->span))
        return other_schema(schema->span, why, why_size);
    if (!map) {
        (void)snprintf(why, why_size,
                       "there is no " OTELCTX_KEY_MAP_KEY
                       " in its process context");
        return -ENOENT;
    }
    if (map->kind != OTELREAD_ARRAY) {
        (void)snprintf(why, why_size, OTELCTX_KEY_MAP_KEY " is no array");
        return -EBADMSG;
    }
    take_keys(&map->list, out);
    return 0;
}
