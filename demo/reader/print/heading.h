/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/report.h"

#include <stdio.h>

/* The first lines of the two forms that people read, text and raw. */

/* "PID 4711 (python3)" */
void otelread_title_print(FILE *out, const struct otelread_report *report);

/* "  mapping    7f...-7f... rw-p /memfd:OTEL_CTX (deleted)" */
void otelread_mapping_print(FILE *out, const struct otelread_mapping *mapping);
