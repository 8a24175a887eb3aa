/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/json_writer.h"
#include "demo/top/model/model.h"

#include <stdbool.h>
#include <stdint.h>

/* Writes a recording: see otelctx-recording(5). Set json.out. */
struct oteltop_record {
    struct otelbase_json json;
};

void oteltop_record_begin(struct oteltop_record *record, uint64_t unix_ns,
                          unsigned hz, bool wall);

/* Writes the sample, preceded by what it refers to and was not written yet. */
void oteltop_record_sample(struct oteltop_record *record,
                           const struct oteltop_sample *sample);

void oteltop_record_gone(struct oteltop_record *record,
                         const struct oteltop_process *process, uint64_t at_ns);

void oteltop_record_rate(struct oteltop_record *record, unsigned hz,
                         uint64_t at_ns);

/* Writes the cost of the looks for the programs. */
void oteltop_record_end(struct oteltop_record *record, uint64_t at_ns,
                        uint64_t stops, uint64_t stopped_ns,
                        uint64_t longest_ns);
