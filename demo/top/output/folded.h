/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/table/rows.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * A line for each stack, for flame graph tools: the values of the dimensions
 * with ";" between, and microseconds of processor time, or with wall of any
 * time.
 */
void oteltop_folded_print(FILE *out, const struct oteltop_rows *rows,
                          bool wall);
