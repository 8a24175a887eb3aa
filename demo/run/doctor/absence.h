/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_ABSENCE_H
#define OTELRUN_ABSENCE_H

#include "demo/run/doctor/process.h"

/* Why a process has not mapped the library. */
void otelrun_absence_check(const struct otelrun_process *p);

#endif
