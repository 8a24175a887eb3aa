/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/symbol.h"
#include "demo/reader/os/target.h"

#include <stdint.h>

/*
 * Where a thread has the TLS block of symbol->module, by the table that libc
 * keeps for each thread: the dynamic thread vector.
 * Returns 0, -ENODATA (the thread has no such block), -ENOTSUP (a libc whose
 * table is unknown here) or what otelread_memory_read() says.
 */
int otelread_dtv_block(struct otelread_target *target,
                       const struct otelread_symbol *symbol,
                       uint64_t thread_pointer, uint64_t *block);
