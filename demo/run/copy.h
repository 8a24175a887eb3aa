/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Copies this program and the library into a directory, for the init container
 * of a pod, which has no other program. A file that is there is replaced by a
 * rename: programs that have it mapped keep the old one.
 *
 * Returns 0, or OTELRUN_FAILURE after a message on standard error.
 */
int otelrun_copy(const char *directory, const char *library);
