/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_PLACES_H
#define OTELREAD_PLACES_H

#include "demo/reader/elf/symbol.h"
#include "demo/reader/report/ring.h"

/* Where the threads of a process keep contexts; NULL: not there. */
struct otelread_places {
    const struct otelread_symbol *tls;
    const struct otelread_symbol *profiler;
    const struct otelread_ring *ring;
};

#endif
