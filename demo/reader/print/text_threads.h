/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/threads.h"

#include <stdbool.h>
#include <stdio.h>

/* The part of the text form that --threads adds. */
void otelread_text_threads_print(FILE *out,
                                 const struct otelread_threads *threads,
                                 bool only_threads);
