/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_SILENCE_H
#define OTELRUN_SILENCE_H

#include "demo/run/doctor/process.h"

/* Why a process that has mapped the library has no context. */
void otelrun_silence_check(const struct otelrun_process *p);

#endif
