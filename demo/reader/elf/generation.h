/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/object.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The generation in which glibc gave a TLS module its number. The number may
 * have belonged to another library before, and a thread whose table is older
 * still has that library's block under it. Returns 0 when unknown.
 */
uint64_t otelread_generation(const struct otelread_object *objects,
                             size_t count, uint64_t module);
