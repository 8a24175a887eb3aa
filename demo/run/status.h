/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The exit statuses of env(1), nice(1) and the shell. */
enum otelrun_status {
    OTELRUN_OK = 0,
    OTELRUN_CHECK_FAILED = 1,      /* --check */
    OTELRUN_FAILURE = 125,         /* otelctx-run itself */
    OTELRUN_CANNOT_EXECUTE = 126,  /* the command is there */
    OTELRUN_NO_SUCH_COMMAND = 127, /* it is not */
};
