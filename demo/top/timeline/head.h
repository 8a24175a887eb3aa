/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTIME_HEAD_H
#define OTELTIME_HEAD_H

#include "demo/top/timeline/model.h"

/* What stands above the picture, and at its side. */

void oteltime_title_print(FILE *out, const struct oteltime_timeline *timeline);
void oteltime_facts_print(FILE *out, const struct oteltime_timeline *timeline);

/* The headings and the threads; rows: those of each process in a row. */
void oteltime_processes_print(FILE *out,
                              const struct oteltime_timeline *timeline,
                              const size_t *rows);

#endif
