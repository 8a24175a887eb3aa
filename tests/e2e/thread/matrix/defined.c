/* SPDX-License-Identifier: Apache-2.0 */

/* The variable alone: the code that uses it may be in another object. */

extern __thread void *otel_thread_ctx_v1;
__thread void *otel_thread_ctx_v1;
