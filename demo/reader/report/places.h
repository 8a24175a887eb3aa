/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/symbol.h"
#include "demo/reader/report/ring.h"

#include <stdint.h>

/* Where the threads of a process keep contexts; NULL: not there. */
struct otelread_places {
    const struct otelread_symbol *tls;
    const struct otelread_symbol *profiler;
    const struct otelread_ring *ring;
    int64_t *distance; /* of the last record from its variable, or NULL */
};
