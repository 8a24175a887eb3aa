/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_DTV_H
#define OTELREAD_DTV_H

#include "demo/reader/symbol.h"

/*
 * Where a thread has the TLS block of symbol->module: its libc keeps a table
 * of them, the dynamic thread vector.
 * Returns 0, -ENODATA (it has none), -ENOTSUP (another libc, whose table we do
 * not know) or what otelread_target_read() says.
 */
int otelread_dtv_block(struct otelread_target *target,
                       const struct otelread_symbol *symbol,
                       uint64_t thread_pointer, uint64_t *block);

#endif
