/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What became of one process. The numbers are the exit statuses of
 * otelctx-read(1), the names its JSON: neither ever changes.
 */
enum otelread_status {
    OTELREAD_OK = 0,
    OTELREAD_ERROR = 1,
    OTELREAD_USAGE = 2, /* of the command line, never of a process */
    OTELREAD_NO_PROCESS = 3,
    OTELREAD_NO_PERMISSION = 4,
    OTELREAD_NO_CONTEXT = 5,
    OTELREAD_SEVERAL = 6,
    OTELREAD_INVALID = 7,
    OTELREAD_BUSY = 8,
};

/* "ok", "no_process" and so on; never NULL. */
const char *otelread_status_name(enum otelread_status status);
