/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/symbol.h"
#include "demo/reader/os/target.h"

#include <stdint.h>

/*
 * The variable's address in the thread with that thread pointer (fs_base,
 * TPIDR_EL0), which should be stopped.
 * Returns 0, -ENODATA (the thread never touched it, so it has no such variable
 * and nothing is attached), -ENOTSUP, or what otelread_memory_read() says.
 */
int otelread_symbol_address(struct otelread_target *target,
                            const struct otelread_symbol *symbol,
                            uint64_t thread_pointer, uint64_t *address);
