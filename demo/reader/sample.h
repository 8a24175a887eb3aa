/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_SAMPLE_H
#define OTELREAD_SAMPLE_H

#include "demo/reader/report.h"
#include "demo/reader/threads.h"

/*
 * Reads every thread of the process, one after the other; map and symbol are
 * known. Returns 0 or -errno.
 * Rule: OTEP 4947, "Reading Protocol", step 2.
 */
int otelread_sample(struct otelread_threads *threads,
                    struct otelread_report *report);

#endif
