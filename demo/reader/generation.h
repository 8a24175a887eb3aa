/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_GENERATION_H
#define OTELREAD_GENERATION_H

#include "demo/reader/objects.h"

#include <stddef.h>
#include <stdint.h>

/*
 * When glibc gave a TLS module its number: the number may have been another
 * library's, and a thread's table from before then has that one's block under
 * it. 0: cannot be told.
 */
uint64_t otelread_generation(const struct otelread_object *objects,
                             size_t count, uint64_t module);

#endif
