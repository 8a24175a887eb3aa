/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/escape.h"
#include "demo/reader/print.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000U

/* Longer keys do not push the values of all others to the right. */
#define KEY_WIDTH_MAX 40

static void node_print(FILE *out, const struct otelread_node *node);

static void quoted_print(FILE *out, struct otelread_span span)
{
    (void)fputc('"', out);
    otelread_escape_print(out, span.bytes, span.size);
    (void)fputc('"', out);
}

static void double_print(FILE *out, double value)
{
    char text[OTELREAD_DOUBLE_SIZE];

    otelread_double_format(text, value);
    (void)fputs(text, out);
    if (isfinite(value) && strpbrk(text, ".e") == NULL)
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
    for (const struct otelread_node *item = node->list.first; item != NULL;
         item = item->next) {
        if (pairs) {
            quoted_print(out, item->key);
            (void)fputs(": ", out);
        }
        node_print(out, item);
        if (item->next != NULL)
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

/* A key goes without quotes when nobody can misread it. */
static bool key_is_plain(struct otelread_span key)
{
    for (size_t i = 0; i < key.size; i++) {
        const uint8_t c = key.bytes[i];

        if (c < 0x80 && !isalnum(c) && strchr("._-/:", c) == NULL)
            return false;
    }
    return key.size > 0;
}

static size_t key_width(struct otelread_span key)
{
    return otelread_escape_width(key.bytes, key.size) +
           (key_is_plain(key) ? 0 : 2);
}

static void attribute_print(FILE *out, const struct otelread_node *node,
                            unsigned indent, size_t width)
{
    (void)fprintf(out, "%*s", (int)indent, "");
    if (key_is_plain(node->key))
        otelread_escape_print(out, node->key.bytes, node->key.size);
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

    if (list->count > 0 && sorted == NULL)
        (void)fprintf(out, "%*s(out of memory)\n", (int)indent, "");
    for (size_t i = 0; sorted != NULL && i < list->count; i++) {
        const size_t one = key_width(sorted[i]->key);

        if (one > width && one <= KEY_WIDTH_MAX)
            width = one;
    }
    for (size_t i = 0; sorted != NULL && i < list->count; i++)
        attribute_print(out, sorted[i], indent, width);
    free(sorted);
}

static void attributes_print(FILE *out, const char *title,
                             const struct otelread_list *list)
{
    (void)fprintf(out, "  %s\n", title);
    if (list->count == 0)
        (void)fputs("    (none)\n", out);
    otelread_text_attributes_print(out, list, 4);
}

/* The two biggest units that count. */
static void age_print(FILE *out, uint64_t age_ns)
{
    const uint64_t s = age_ns / SECOND_NS;

    if (s == 0)
        (void)fprintf(out, "%" PRIu64 " ms", age_ns / 1000000);
    else if (s < 60)
        (void)fprintf(out, "%" PRIu64 " s", s);
    else if (s < 3600)
        (void)fprintf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    else if (s < 86400)
        (void)fprintf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600,
                      s / 60 % 60);
    else
        (void)fprintf(out, "%" PRIu64 " d %" PRIu64 " h", s / 86400,
                      s / 3600 % 24);
}

/* The future: another time namespace, or not the clock of the OTEP. */
static void published_print(FILE *out, const struct otelread_context *context)
{
    const uint64_t then = context->header.published_at_ns;
    const uint64_t now = context->read_at_ns;

    (void)fputs("  published  ", out);
    age_print(out, then > now ? then - now : now - then);
    (void)fprintf(out, "%s (boottime %" PRIu64 " ns)\n",
                  then > now ? " ahead of this clock" : " ago", then);
}

static void context_print(FILE *out, const struct otelread_context *context)
{
    const struct otelread_decoded *const decoded = &context->decoded;

    otelread_mapping_print(out, &context->mapping);
    if (context->status != OTELREAD_OK) {
        (void)fprintf(out, "  %s: %s\n", otelread_status_name(context->status),
                      context->why);
        return;
    }
    (void)fprintf(
        out, "  header     version %u, payload %u bytes at 0x%" PRIx64 "\n",
        context->header.version, context->header.payload_size,
        context->header.payload);
    published_print(out, context);
    attributes_print(out, "resource", &decoded->resource);
    if (decoded->resource_dropped > 0)
        (void)fprintf(out, "    (%u more dropped by the publisher)\n",
                      decoded->resource_dropped);
    attributes_print(out, "extra attributes", &decoded->extra);
}

void otelread_text_print(FILE *out, const struct otelread_report *report)
{
    if (report->status != OTELREAD_OK && report->status != OTELREAD_SEVERAL)
        return;

    otelread_title_print(out, report);
    for (size_t i = 0; i < report->count; i++)
        context_print(out, &report->contexts[i]);
    if (report->uncounted > 0)
        (void)fprintf(out, "  and %zu contexts more\n", report->uncounted);
    otelread_text_threads_print(out, report);
}
