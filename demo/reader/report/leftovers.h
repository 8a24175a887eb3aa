/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/target.h"
#include "demo/reader/report/ring.h"
#include "demo/reader/report/sample.h"

/*
 * Finds the slots of a ring whose context is no live thread's, after the
 * threads were read: those of them whose slot is such a one become STALE. Only
 * pages that are in memory are read. Returns 0 or -errno.
 */
int otelread_leftovers_find(struct otelread_ring *ring,
                            struct otelread_target *target,
                            struct otelread_sample *sample);
