/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/command/depth.h"
#include "demo/reader/command/show.h"

/*
 * Shows every process that has a context, in the order of their numbers. Where
 * there are hundreds, each processor reads a part of them. Returns 0 when there
 * was one, else OTELREAD_NO_CONTEXT, or OTELREAD_NO_PERMISSION when none could
 * be read.
 */
int otelread_all(struct otelread_output *output, enum otelread_depth depth);
