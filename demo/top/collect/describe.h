/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_DESCRIBE_H
#define OTELTOP_DESCRIBE_H

#include "demo/reader/payload/keymap.h"
#include "demo/reader/report/report.h"
#include "demo/reader/report/thread.h"
#include "demo/top/model/model.h"

/* Fills in what /proc says: command, container, pod, cgroup. */
void oteltop_describe_process(struct oteltop_process *process,
                              const struct otelread_target *target);

/*
 * Fills in the context and the resource of its report, instead of those that it
 * has. A pod's name comes from there, too. Returns 0 or -ENOMEM.
 */
int oteltop_describe_context(struct oteltop_process *process,
                             const struct otelread_report *report);

/*
 * What a thread that was read works for: *span gets ids and attributes, and
 * NULL is returned; or why there is nothing, a constant.
 */
const char *oteltop_describe_span(struct oteltop_span *span,
                                  const struct otelread_thread *thread,
                                  bool has_tls);

#endif
