/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/output/table.h"
#include "demo/top/screen/view.h"

#include <stdint.h>
#include <stdio.h>

/* What the screen shows. */
struct oteltop_frame {
    const struct oteltop_rows *rows;
    uint64_t passed_ns; /* of the samples */
    const char *title;  /* the first line */
    const char *cost;   /* the last one */
    struct oteltop_style style;
    unsigned lines;
};

/* Writes a whole frame over the one on the screen. */
void oteltop_draw(FILE *out, struct oteltop_view *view,
                  const struct oteltop_frame *frame);
