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
    bool has_untrusted; /* the column of such samples is shown */
    size_t scroll;      /* rows above the first that is shown */

    char prompt; /* what is typed: 'b' rows, '/' a filter; 0: nothing */
    char text[OTELTOP_TEXT_SIZE];
    bool is_regrouped;     /* by the last line: rows are to be made again */
    bool is_full;          /* no more of it fits */
    const char *complaint; /* about what was typed, or NULL */
    size_t escape;         /* bytes of an escape sequence: 1 ESC, 2 or more */
    unsigned number;       /* the first one in that sequence */
    bool has_number;       /* all of it was read */
};

/* Takes a byte that the terminal sent. */
void oteltop_view_key(struct oteltop_view *view, char key);

/* Nothing comes behind those bytes: an ESC was the key, which leaves a prompt.
 */
void oteltop_view_pause(struct oteltop_view *view);

/* The keys, a line each; ends with NULL. */
extern const char *const oteltop_view_help[];

#endif
