/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/timeline/model.h"

/* Writes the tables below the picture. */
void oteltime_tables_print(FILE *out, const struct oteltime_timeline *timeline);
