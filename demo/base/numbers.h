/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/pool.h"

#define OTELBASE_NOTHING SIZE_MAX

/*
 * Where the numbers of a recording lead: each to an index. Zeros are an empty
 * one. Ends the program when there is no memory.
 */
struct otelbase_numbers {
    struct otelbase_pool pool;
    size_t *indexes;
    size_t room;
};

/* Where the index of this number is kept: OTELBASE_NOTHING at first. */
size_t *otelbase_numbers_slot(struct otelbase_numbers *numbers,
                              uint64_t number);

void otelbase_numbers_free(struct otelbase_numbers *numbers);
