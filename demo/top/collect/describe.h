/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/keymap.h"
#include "demo/reader/report/report.h"
#include "demo/reader/report/thread.h"
#include "demo/top/model/model.h"

/* Fills in command, container, pod and cgroup from /proc. */
void oteltop_describe_process(struct oteltop_process *process,
                              const struct otelread_target *target);

/* Replaces the context and the resource by those of the report, and the pod's
 * name by the one there. Returns 0 or -ENOMEM. */
int oteltop_describe_context(struct oteltop_process *process,
                             const struct otelread_report *report);

/* Sets *span to the ids and attributes of a thread that was read, and returns
 * NULL; or returns why there are none, a constant. */
const char *oteltop_describe_span(struct oteltop_span *span,
                                  const struct otelread_thread *thread,
                                  bool has_tls);
