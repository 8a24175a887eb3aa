/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shim/base/compiler.h"

/* What failed, for a log line. */
struct otelctx_failure {
    const char *what; /* the system call, or a sentence */
    int err;          /* -errno */
};

/* Fill in *out; returns err. */
OTELCTX_INLINE int otelctx_fail(struct otelctx_failure *out, const char *what,
                                int err)
{
    out->what = what;
    out->err = err;
    return err;
}
