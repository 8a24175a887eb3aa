/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The address of the calling thread's otel_thread_ctx_v1. This call touches the
 * variable. used.c defines it, in the executable or in a library. */
typedef void **slot_function(void);
slot_function matrix_slot;

/* Finds that function: in linked.c, the one that the program is linked with; in
 * opened.c, the one in the last of these libraries, after opening them all. */
slot_function *matrix_find(char **libraries);

/* The function of a library that is closed again before that, or NULL. */
slot_function *matrix_find_old(char **libraries);
