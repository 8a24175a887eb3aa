/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Another thread-local variable, so that ours is not the only one of its
 * object. Its size, alignment and section (of the initialised or of the zeroed
 * ones) are the compiler options.
 */

__attribute__((used, aligned(PAD_ALIGN))) static __thread char pad[PAD_SIZE] =
    PAD_VALUE;
