/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/report.h"

#include <stdbool.h>
#include <sys/types.h>

/* Prints, for each process, what stands between it and its context. Returns an
 * exit status: that of the first process without one. */
int otelread_why(const pid_t *pids, size_t count, bool json);

/* Says on standard error why a process has no context. */
void otelread_why_tell(const struct otelread_report *report);
