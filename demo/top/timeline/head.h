/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/timeline/model.h"

/* The parts of the page above the picture and beside it. */

void oteltime_title_print(FILE *out, const struct oteltime_timeline *timeline);
void oteltime_facts_print(FILE *out, const struct oteltime_timeline *timeline);

/* Writes the headings and the threads. rows: the rows of each process are
 * adjacent. */
void oteltime_processes_print(FILE *out,
                              const struct oteltime_timeline *timeline,
                              const size_t *rows);
