/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/text_attributes.h"

#include "demo/base/double.h"
#include "demo/base/escape.h"
#include "demo/reader/payload/list.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longer keys do not widen the column. */
#define KEY_WIDTH_MAX 40

static void node_print(FILE *out, const struct otelread_node *node);

static void quoted_print(FILE *out, struct otelread_span span)
{
    (void)fputc('"', out);
    otelbase_escape_print(out, span.bytes, span.size);
    (void)fputc('"', out);
}

static void double_print(FILE *out, double value)
{
    char text[OTELBASE_DOUBLE_SIZE];

    otelbase_double_format(text, value);
    (void)fputs(text, out);
    if (isfinite(value) && !strpbrk(text, ".e"))
        (void)fputs(".0", out);
}

static void bytes_print(FILE *out, struct otelread_span span)
{
    (void)fprintf(out, "bytes(%zu)", span.size);
    for (size_t i = 0; i < span.size; i++)
        (void)fprintf(out, " %02x", span.bytes[i]);
}

static void list_print(FILE *out, const struct otelread_node *node)
{
    const bool pairs = node->kind == OTELREAD_KVLIST;

    (void)fputc(pairs ? '{' : '[', out);
    for (const struct otelread_node *item = node->list.first; item;
         item = item->next) {
        if (pairs) {
            quoted_print(out, item->key);
            (void)fputs(": ", out);
        }
        node_print(out, item);
        if (item->next)
            (void)fputs(", ", out);
    }
    (void)fputc(pairs ? '}' : ']', out);
}

static void node_print(FILE *out, const struct otelread_node *node)
{
    switch (node->kind) {
    case OTELREAD_STRING:
        quoted_print(out, node->span);
        break;
    case OTELREAD_BOOL:
        (void)fputs(node->truth ? "true" : "false", out);
        break;
    case OTELREAD_INT:
        (void)fprintf(out, "%" PRId64, node->integer);
        break;
    case OTELREAD_DOUBLE:
        double_print(out, node->real);
        break;
    case OTELREAD_ARRAY:
    case OTELREAD_KVLIST:
        list_print(out, node);
        break;
    case OTELREAD_BYTES:
        bytes_print(out, node->span);
        break;
    case OTELREAD_EMPTY:
    default:
        (void)fputs("(empty value)", out);
    }
}

/* Whether a key is printed without quotes: it cannot be misread. */
static bool key_is_plain(struct otelread_span key)
{
    for (size_t i = 0; i < key.size; i++) {
        const uint8_t c = key.bytes[i];

        if (c < 0x80 && !isalnum(c) && !strchr("._-/:", c))
            return false;
    }
    return key.size > 0;
}

static size_t key_width(struct otelread_span key)
{
    return otelbase_escape_width(key.bytes, key.size) +
           (key_is_plain(key) ? 0 : 2);
}

static void attribute_print(FILE *out, const struct otelread_node *node,
                            unsigned indent, size_t width)
{
    (void)fprintf(out, "%*s", (int)indent, "");
    if (key_is_plain(node->key))
        otelbase_escape_print(out, node->key.bytes, node->key.size);
    else
        quoted_print(out, node->key);
    for (size_t at = key_width(node->key); at < width; at++)
        (void)fputc(' ', out);
    (void)fputs("  ", out);
    node_print(out, node);
    (void)fputc('\n', out);
}

void otelread_text_attributes_print(FILE *out, const struct otelread_list *list,
                                    unsigned indent)
{
    const struct otelread_node **const sorted = otelread_list_sort(list);
    size_t width = 0;

    if (list->count > 0 && !sorted)
        (void)fprintf(out, "%*s(out of memory)\n", (int)indent, "");
    for (size_t i = 0; sorted && i < list->count; i++) {
        const size_t one = key_width(sorted[i]->key);

        if (one > width && one <= KEY_WIDTH_MAX)
            width = one;
    }
    for (size_t i = 0; sorted && i < list->count; i++)
        attribute_print(out, sorted[i], indent, width);
    free(sorted);
}
