/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * Is descriptor 2 really standard error? If the process was started with
 * standard error closed, descriptor 2 is the first file that a constructor
 * opens, and a log line would damage that file.
 *
 * The kernel does not tell which descriptors a process started with. So a
 * regular file counts as standard error only if
 *  - it is open for appending, or
 *  - it is standard output as well, or
 *  - no other library is loaded whose constructor may have opened it.
 * A terminal, a pipe, a socket or any other kind of file always counts.
 */
bool otelctx_stderr_is_usable(void);
