/* SPDX-License-Identifier: Apache-2.0 */

/* The variable, alone, so that the code that uses it may be elsewhere. */

extern __thread void *otel_thread_ctx_v1;
__thread void *otel_thread_ctx_v1;
