/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/*
 * Writes what the stream still buffers. fflush(3) and fclose(3) succeed
 * although an earlier write failed, and what is larger than the buffer (1024
 * bytes in musl, 4096 in glibc) is written earlier.
 *
 * Returns 0, or the errno of this write; EIO for an earlier one.
 */
int otelbase_flush(FILE *out);
