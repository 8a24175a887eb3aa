/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/kit/judge/json.h"

/* Ordered from best to worst; the worst that applies is the verdict. */
enum otelkit_verdict {
    OTELKIT_NOT_STAGED, /* the scenario was not judged */
    OTELKIT_RIGHT,
    OTELKIT_REFUSED, /* a context was not shown */
    OTELKIT_UNCLEAR, /* the answer cannot be understood */
    OTELKIT_STOPPED, /* the reader left the target stopped */
    OTELKIT_MEMORY,  /* the reader took too much memory */
    OTELKIT_HUNG,    /* the reader did not end in time */
    OTELKIT_CRASHED, /* a signal ended the reader */
    OTELKIT_WRONG,   /* a context was shown that is not there */
    OTELKIT_VERDICTS
};

/* "right" and so on. */
const char *otelkit_verdict_name(enum otelkit_verdict verdict);

/* Compares an answer with the expectation, both in the form of
 * otelctx-verdict(5). Members that the answer lacks are not judged. `why` gets
 * the first difference, or is empty. */
enum otelkit_verdict otelkit_compare(const struct otelkit_json *expected,
                                     const struct otelkit_json *answer,
                                     char *why, size_t why_size);
