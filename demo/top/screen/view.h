/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_VIEW_H
#define OTELTOP_VIEW_H

#include "demo/top/table/dimension.h"
#include "demo/top/table/rows.h"

#include <stdbool.h>
#include <stddef.h>

#define OTELTOP_TEXT_SIZE 128

/* What a person chose to see. Begin with by and order, else zero. */
struct oteltop_view {
    struct oteltop_dimensions by;
    enum oteltop_column order;
    char filter[OTELTOP_TEXT_SIZE];
    bool is_frozen;
    bool wants_help;
    bool wants_wall;
    bool is_over;
    size_t scroll; /* rows above the first that is shown */

    char prompt; /* what is typed: 'b' rows, '/' a filter; 0: nothing */
    char text[OTELTOP_TEXT_SIZE];
    const char *complaint; /* about what was typed, or NULL */
    size_t escape;         /* bytes of an escape sequence that were read */
};

/* Takes a byte that the terminal sent. */
void oteltop_view_key(struct oteltop_view *view, char key);

/* The keys, a line each; ends with NULL. */
extern const char *const oteltop_view_help[];

#endif
