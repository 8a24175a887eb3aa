/* SPDX-License-Identifier: Apache-2.0 */

/* The variable under a second, local name, by which the code uses it: then the
 * relocation has no name. */

#include "matrix.h"

extern __thread void *inner __attribute__((visibility("hidden")));
__thread void *inner;

extern __thread void *otel_thread_ctx_v1 __attribute__((alias("inner")));

void **matrix_slot(void)
{
    return &inner;
}
