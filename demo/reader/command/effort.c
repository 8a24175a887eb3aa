/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/effort.h"

#include "demo/reader/os/clock.h"
#include "demo/reader/os/helper.h"

#define SHARE 20

/* Whatever a look takes, a watcher is not blind for longer. */
#define PAUSE_LIMIT_NS UINT64_C(10000000000)

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* 0 when it went back: another helper was started. */
static uint64_t passed(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

void otelread_effort_begin(struct otelread_effort *effort)
{
    *effort =
        (struct otelread_effort){.start_ns = otelread_monotonic_ns(),
                                 .cpu_ns = otelread_cpu_ns(),
                                 .helper_cpu_ns = otelread_helper_cpu_ns()};
}

uint64_t otelread_effort_pause_ns(const struct otelread_effort *effort,
                                  uint64_t stopped_ns)
{
    const uint64_t wall_ns = passed(effort->start_ns, otelread_monotonic_ns());
    const uint64_t cpu_ns =
        passed(effort->cpu_ns, otelread_cpu_ns()) +
        passed(effort->helper_cpu_ns, otelread_helper_cpu_ns());
    const uint64_t pause_ns =
        larger(SHARE * larger(cpu_ns, stopped_ns), wall_ns);

    return pause_ns < PAUSE_LIMIT_NS ? pause_ns : PAUSE_LIMIT_NS;
}
