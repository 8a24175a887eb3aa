/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TESTS_MATRIX_H
#define OTELCTX_TESTS_MATRIX_H

/* The address of the calling thread's otel_thread_ctx_v1. used.c has one, in
 * the executable or in a library; asking is what touches the variable. */
typedef void **slot_function(void);
slot_function matrix_slot;

/* Finds it: linked.c the one that the program is linked with, opened.c the one
 * in the last of these libraries, having opened them all. */
slot_function *matrix_find(char **libraries);

/* The one of a library that is closed again before that, or NULL. */
slot_function *matrix_find_old(char **libraries);

#endif
