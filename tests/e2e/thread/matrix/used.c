/* SPDX-License-Identifier: Apache-2.0 */

/* The code that uses the variable; compiler options set its TLS access model.
 */

#include "matrix.h"

extern __thread void *otel_thread_ctx_v1;

void **matrix_slot(void)
{
    return &otel_thread_ctx_v1;
}
