/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/table/dimension.h"
#include "demo/top/table/window.h"

#include <stdint.h>
#include <stdio.h>

/*
 * Writes the samples as a profile, uncompressed. The frames of a stack are the
 * values of the dimensions; ids, attributes, process and thread are labels.
 * Returns 0 or -ENOMEM; then the profile is not complete.
 * Rule: profile.proto of github.com/google/pprof.
 */
int oteltop_pprof_write(FILE *out, const struct oteltop_window *window,
                        const struct oteltop_dimensions *by,
                        uint64_t start_unix_ns);
