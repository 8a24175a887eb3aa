/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/report.h"

#include <stdio.h>

/* Every byte of headers and payloads, one line for each field. */
void otelread_raw_print(FILE *out, const struct otelread_report *report);
