/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/report.h"

#include <stdio.h>

/* For people: several lines, attributes sorted by key. */
void otelread_text_print(FILE *out, const struct otelread_report *report);
