/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * OTELCTX_CHILDREN=leave: remove the shim from the LD_PRELOAD of the programs
 * that this process will execute.
 *
 * envp  the environment
 *
 * Returns 0, -ENOSYS (no environment of libc) or the error of mmap.
 */
int otelctx_children_leave(char *const *envp);
