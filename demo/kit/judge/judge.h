/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/kit/judge/compare.h"
#include "demo/kit/judge/reader.h"
#include "demo/kit/otelctx_kit.h"

/* The result of one scenario. */
struct otelkit_result {
    const struct otelctx_kit_scenario *scenario;
    enum otelkit_verdict verdict;
    char expected[8]; /* "context", "none" or "either" */
    char got[8];      /* likewise */
    char why[160];
    uint64_t lasted_ns; /* of the reader alone */
    bool judged;
};

/* Which scenarios: those whose names match a pattern, or all without any. */
struct otelkit_trial {
    struct otelkit_reader reader;
    const char *const *patterns;
    size_t pattern_count;
    long jobs;
    struct otelkit_result *results; /* shared by the jobs */
    size_t count;
};

/* Runs the reader against the scenarios. Returns 0 or -errno. */
int otelkit_trial_run(struct otelkit_trial *trial);

size_t otelkit_trial_count(const struct otelkit_trial *trial,
                           enum otelkit_verdict verdict);

/* How the results are printed. */
void otelkit_table_print(const struct otelkit_trial *trial);
void otelkit_json_print(const struct otelkit_trial *trial);
void otelkit_junit_print(const struct otelkit_trial *trial);
