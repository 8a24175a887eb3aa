/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_START_CHILDREN_H
#define OTELCTX_START_CHILDREN_H

/*
 * OTELCTX_CHILDREN=leave: take the shim off the LD_PRELOAD that programs
 * inherit which this process executes.
 *
 * envp  the environment
 *
 * Returns 0, -ENOSYS (no environment of libc) or the error of mmap.
 */
int otelctx_children_leave(char *const *envp);

#endif
