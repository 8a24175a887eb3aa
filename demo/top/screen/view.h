/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/table/dimension.h"
#include "demo/top/table/rows.h"

#include <stdbool.h>
#include <stddef.h>

#define OTELTOP_TEXT_SIZE 128

/* The choices of the user. Set by and order, and all else to zero. */
struct oteltop_view {
    struct oteltop_dimensions by;
    enum oteltop_column order;
    char filter[OTELTOP_TEXT_SIZE];
    bool is_frozen;
    bool wants_help;
    bool wants_wall;
    bool is_over;
    bool has_untrusted; /* show the column of untrusted samples */
    size_t scroll;      /* rows above the first that is shown */

    char prompt; /* what is typed: 'b' rows, '/' a filter; 0: nothing */
    char text[OTELTOP_TEXT_SIZE];
    bool is_regrouped; /* the typed line changed the rows, which are to be made
                          again */
    bool is_full;      /* the line is full */
    const char *complaint; /* about what was typed, or NULL */
    size_t escape;         /* bytes of an escape sequence: 1 ESC, 2 or more */
    unsigned number;       /* the first parameter in that sequence */
    bool has_number;       /* the sequence is complete */
};

/* Handles a byte from the terminal. */
void oteltop_view_key(struct oteltop_view *view, char key);

/* Call when no byte follows: an ESC was then a key of its own, which leaves a
 * prompt. */
void oteltop_view_pause(struct oteltop_view *view);

/* The keys, a line each; ends with NULL. */
extern const char *const oteltop_view_help[];
