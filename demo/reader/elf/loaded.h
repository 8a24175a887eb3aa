/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/target.h"

#include <stdint.h>

/*
 * Which files a process runs code from, and where: a number that changes when
 * it loads a library or unloads one. Returns 0 or -errno.
 */
int otelread_loaded_digest(const struct otelread_target *target,
                           uint64_t *digest);
