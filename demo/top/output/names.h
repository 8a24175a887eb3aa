/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_NAMES_H
#define OTELTOP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Strings by number; 0 is the empty one. Begin with all zero. */
struct oteltop_names {
    char **list;
    size_t count;
    size_t *table; /* a hash table of numbers + 1 */
    size_t room;   /* a power of two, or 0 */
    bool is_short; /* there was no memory for one of them */
};

/* The number of a string, a new one if need be; 0 if it becomes short. */
size_t oteltop_names_number(struct oteltop_names *names, const char *text);

void oteltop_names_free(struct oteltop_names *names);

#endif
