/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TOP_TABLES_H
#define OTELCTX_TOP_TABLES_H

#include "demo/top/timeline/model.h"

/* The tables below the picture. */
void otelctx_top_tables_print(FILE *out,
                              const struct otelctx_top_timeline *timeline);

#endif
