/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/symbol_find.h"
#include "demo/reader/os/target.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The thread-local variables of one process, as they were found last. Begin
 * with all zero.
 */
struct otelread_search {
    struct otelread_variable tls;      /* otel_thread_ctx_v1 */
    struct otelread_variable profiler; /* context_tls_v1 */
    uint64_t loaded;   /* the files that were searched, a digest */
    uint64_t since_ns; /* when they were first seen */
    bool settled;      /* searching them again would not help */
};

/*
 * Finds the variables, unless the last call found them, or found that there are
 * none, and the process has loaded and unloaded nothing for a while. The errors
 * of both: as of otelread_variables_find(), or -ETIMEDOUT (a library's memory
 * does not answer).
 */
void otelread_search_run(struct otelread_search *search,
                         struct otelread_target *target);
