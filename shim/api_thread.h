/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_API_THREAD_H
#define OTELCTX_API_THREAD_H

/* The public calls of the same names, in all cases: see otelctx.h. Not to be
 * inlined, because their registers would have to be saved before it is clear
 * that they are called at all. */

#include "shim/compiler.h"
#include "shim/record.h"

OTELCTX_RARE int otelctx_attach_any(const uint8_t trace_id[16],
                                    const uint8_t span_id[8], uint8_t flags);
OTELCTX_RARE int otelctx_detach_any(void);
OTELCTX_RARE int otelctx_attr_any(uint8_t key, const char *value, size_t len);
OTELCTX_RARE int otelctx_swap_any(struct otelctx_record *record,
                                  struct otelctx_record **previous);

#endif
