/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/list.h"

#include <stdio.h>

/* One line for each attribute, sorted by key, indented by so many blanks. */
void otelread_text_attributes_print(FILE *out, const struct otelread_list *list,
                                    unsigned indent);
