/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/table/dimension.h"
#include "demo/top/table/window.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes the samples as OTLP profiles: of each process one of processor time,
 * and with wall one of any time. The frames of a stack are the values of the
 * dimensions, a link names the span, and thread, state and the attributes of
 * the span are attributes of the sample. Each line is a ProfilesData; there is
 * more than one when one line would be longer than file receivers take.
 * Returns 0 or -ENOMEM; then less is written.
 * Rule: profiles/v1development/profiles.proto of opentelemetry-proto 1.11 (the
 * names of its fields are not stable yet), which the collector's pprofile
 * v0.164.0 reads; OTLP, "JSON Protobuf Encoding"; OpenTelemetry Protocol File
 * Exporter, "JSON lines file".
 */
int oteltop_otlp_json_write(FILE *out, const struct oteltop_window *window,
                            const struct oteltop_dimensions *by,
                            uint64_t start_unix_ns, bool wall);
