/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_LOCATE_H
#define OTELREAD_LOCATE_H

#include "demo/reader/report.h"

/*
 * Puts every established mapping of report->target into report->contexts. When
 * there is none, but mappings with the right name, the first of those and what
 * is wrong with it, after waiting for a writer in its first publish.
 * Returns 0, -ENOMEM, or -errno of the process's files.
 * Rule: OTEP 4719, "Reading Protocol", steps 1 and 2.
 */
int otelread_locate(struct otelread_report *report,
                    struct otelread_patience patience);

#endif
