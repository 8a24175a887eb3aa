/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/timeline/model.h"

/* The files of page/ as one text, cut at the places that the program fills. */
struct oteltime_part {
    const unsigned char *text;
    size_t size;
    const char *place; /* the part that follows the text, or NULL */
};
extern const struct oteltime_part oteltime_parts[];

/* Writes the page. */
void oteltime_page_print(FILE *out, const struct oteltime_timeline *timeline);
