/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/report.h"

#include <stdio.h>

/* For programs: one line, described in otelctx-read(1), "JSON". */
void otelread_json_print(FILE *out, const struct otelread_report *report);
