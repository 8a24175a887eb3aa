/* SPDX-License-Identifier: Apache-2.0 */

/* The variable under a name of its own, by which it is used: the relocation
 * has no name then. */

#include "matrix.h"

extern __thread void *inner __attribute__((visibility("hidden")));
__thread void *inner;

extern __thread void *otel_thread_ctx_v1 __attribute__((alias("inner")));

void **matrix_slot(void)
{
    return &inner;
}
