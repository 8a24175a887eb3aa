/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * An array with room for at least one more element than count: the same one,
 * or a larger one that was moved. *room counts elements. Ends the program when
 * there is no memory.
 */
__attribute__((returns_nonnull)) void *otelbase_grow(void *array, size_t count,
                                                     size_t *room, size_t size);

/* New zeros, at least one. Likewise. */
__attribute__((returns_nonnull)) void *otelbase_zeros(size_t count,
                                                      size_t size);
