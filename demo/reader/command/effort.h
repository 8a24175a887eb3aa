/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What a look at a process has taken so far. */
struct otelread_effort {
    uint64_t start_ns;
    uint64_t cpu_ns; /* of this process, when it began */
    uint64_t helper_cpu_ns;
};

void otelread_effort_begin(struct otelread_effort *effort);

/*
 * How long to pause after that look, which stopped no thread for longer than
 * stopped_ns at a time: looks shall take one part in twenty of a processor's
 * time, and of a thread's, and half of the time that passes. On a busy machine
 * much time passes in which the look does nothing.
 */
uint64_t otelread_effort_pause_ns(const struct otelread_effort *effort,
                                  uint64_t stopped_ns);
