/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TOP_PAGE_H
#define OTELCTX_TOP_PAGE_H

#include "demo/top/timeline/model.h"

/* The files of page/ as one, cut at the places that the program fills. */
struct otelctx_top_part {
    const unsigned char *text;
    size_t size;
    const char *place; /* what follows the text, or NULL */
};
extern const struct otelctx_top_part otelctx_top_parts[];

/* Writes the page. */
void otelctx_top_page_print(FILE *out,
                            const struct otelctx_top_timeline *timeline);

#endif
