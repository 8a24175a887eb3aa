/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/list.h"

#include <stdlib.h>
#include <string.h>

bool otelread_span_equal(struct otelread_span a, struct otelread_span b)
{
    return a.size == b.size &&
           (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

static int span_compare(struct otelread_span a, struct otelread_span b)
{
    const size_t common = a.size < b.size ? a.size : b.size;
    const int order = common == 0 ? 0 : memcmp(a.bytes, b.bytes, common);

    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

/* Nodes lie in one array, in wire order: compare their addresses. */
static int node_compare(const void *left, const void *right)
{
    const struct otelread_node *const a =
        *(const struct otelread_node *const *)left;
    const struct otelread_node *const b =
        *(const struct otelread_node *const *)right;
    const int order = span_compare(a->key, b->key);

    return order != 0 ? order : (a > b) - (a < b);
}

const struct otelread_node **
otelread_list_sort(const struct otelread_list *list)
{
    if (list->count == 0)
        return NULL;

    const struct otelread_node **const sorted =
        calloc(list->count, sizeof(struct otelread_node *));
    if (!sorted)
        return NULL;

    size_t at = 0;
    for (const struct otelread_node *node = list->first; node;
         node = node->next)
        sorted[at++] = node;
    qsort(sorted, list->count, sizeof(struct otelread_node *), node_compare);
    return sorted;
}
