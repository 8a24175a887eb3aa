/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/trace.h"

#include "demo/run/memory.h"
#include "demo/run/status.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

const char *otelrun_trace_make(void)
{
    uint64_t ids[3] = {0};

    /* An id of zero is none. */
    while ((ids[0] | ids[1]) == 0 || ids[2] == 0)
        if (getrandom(ids, sizeof(ids), 0) != (ssize_t)sizeof(ids)) {
            perror("otelctx-run: getrandom");
            exit(OTELRUN_FAILURE);
        }
    /* Flags: sampled, and a trace id that is random. */
    return otelrun_format("00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-03",
                          ids[0], ids[1], ids[2]);
}
