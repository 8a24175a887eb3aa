/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Another thread-local variable, so that otel_thread_ctx_v1 is not the only one
 * of its object. Compiler options set its size, alignment and section (.tdata
 * or .tbss).
 */

__attribute__((used, aligned(PAD_ALIGN))) static __thread char pad[PAD_SIZE] =
    PAD_VALUE;
