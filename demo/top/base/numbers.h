/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_NUMBERS_H
#define OTELTOP_NUMBERS_H

#include "demo/top/base/pool.h"

#define OTELTOP_NOTHING SIZE_MAX

/*
 * Where the numbers of a recording lead: each to an index. Zeros are an empty
 * one. Ends the program when there is no memory.
 */
struct oteltop_numbers {
    struct oteltop_pool pool;
    size_t *indexes;
    size_t room;
};

/* Where the index of this number is kept: OTELTOP_NOTHING at first. */
size_t *oteltop_numbers_slot(struct oteltop_numbers *numbers, uint64_t number);

void oteltop_numbers_free(struct oteltop_numbers *numbers);

#endif
