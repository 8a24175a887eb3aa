/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Of longer texts only the start is compared. */
#define OTELBASE_NEAR_MAX 64

/*
 * How many bytes to insert, delete or replace, to make one text the other
 * (Levenshtein's distance), in any case.
 */
size_t otelbase_near_distance(const char *a, size_t a_size, const char *b,
                              size_t b_size);
