/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Strings by number; 0 is the empty one. Begin with all zero. */
struct oteltop_names {
    char **list;
    size_t count;
    size_t *table; /* a hash table of numbers + 1 */
    size_t room;   /* a power of two, or 0 */
    bool is_short; /* memory was short for one of the strings */
};

/* Returns the number of a string, a new one if necessary; 0 without memory. */
size_t oteltop_names_number(struct oteltop_names *names, const char *text);

void oteltop_names_free(struct oteltop_names *names);
