/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Memory is not freed: the program that is executed next replaces all of it.
 * Without memory otelctx-run ends with status 125, because no program could be
 * executed either.
 */
void *otelrun_allocate(size_t count, size_t size);

/* A string, as by printf(3). */
__attribute__((format(printf, 1, 2))) char *otelrun_format(const char *format,
                                                           ...);
