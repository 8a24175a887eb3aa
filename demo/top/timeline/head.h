/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TOP_HEAD_H
#define OTELCTX_TOP_HEAD_H

#include "demo/top/timeline/model.h"

/* What stands above the picture, and at its side. */

void otelctx_top_title_print(FILE *out,
                             const struct otelctx_top_timeline *timeline);
void otelctx_top_facts_print(FILE *out,
                             const struct otelctx_top_timeline *timeline);

/* The headings and the threads; rows: those of each process in a row. */
void otelctx_top_processes_print(FILE *out,
                                 const struct otelctx_top_timeline *timeline,
                                 const size_t *rows);

#endif
