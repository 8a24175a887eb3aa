/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELKIT_COMPARE_H
#define OTELKIT_COMPARE_H

#include "demo/kit/judge/json.h"

/* From the best to the worst: the worst that applies is the verdict. */
enum otelkit_verdict {
    OTELKIT_NOT_STAGED, /* says nothing of the reader */
    OTELKIT_RIGHT,
    OTELKIT_REFUSED, /* a context was not shown */
    OTELKIT_UNCLEAR, /* an answer that cannot be understood */
    OTELKIT_STOPPED, /* the target was left stopped */
    OTELKIT_MEMORY,  /* the reader took too much */
    OTELKIT_HUNG,    /* it did not end in time */
    OTELKIT_CRASHED, /* by a signal */
    OTELKIT_WRONG,   /* a context was shown that is not there */
    OTELKIT_VERDICTS
};

/* "right" and so on. */
const char *otelkit_verdict_name(enum otelkit_verdict verdict);

/*
 * Compares an answer with what is expected: both in the form of
 * otelctx-verdict(5). What the answer does not mention is not judged.
 * `why` tells the first difference, or is empty.
 */
enum otelkit_verdict otelkit_compare(const struct otelkit_json *expected,
                                     const struct otelkit_json *answer,
                                     char *why, size_t why_size);

#endif
