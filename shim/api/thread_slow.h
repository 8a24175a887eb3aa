/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The public functions of these names (see otelctx.h) in every case, for
 * thread_fast.c, which handles the most frequent case itself. Never inlined
 * there, or the frequent case would save the registers that these need. */

#include "shim/base/compiler.h"
#include "shim/thread/record.h"

/* otelctx_attach() in thread_fast.c, for callers in other files. */
int otelctx_attach_elsewhere(const uint8_t trace_id[16],
                             const uint8_t span_id[8], uint8_t flags);

OTELCTX_RARE int otelctx_attach_slow(const uint8_t trace_id[16],
                                     const uint8_t span_id[8], uint8_t flags);
OTELCTX_RARE int otelctx_attach_with_slow(
    const uint8_t trace_id[16], const uint8_t span_id[8], uint8_t flags,
    const struct otelctx_attribute *attributes, size_t count);
OTELCTX_RARE int otelctx_attach64_slow(uint64_t span_id, uint64_t root_span_id);
OTELCTX_RARE int otelctx_detach_slow(void);
OTELCTX_RARE int otelctx_attr_slow(uint8_t key, const char *value, size_t len);
OTELCTX_RARE int otelctx_get_slow(struct otelctx_ids *out);
OTELCTX_RARE int otelctx_swap_slow(struct otelctx_record *record,
                                   struct otelctx_record **previous);

/* What an attach does whose arguments are wrong: detach, so that readers do not
 * see the ids of the request before. Returns `why`, or the error of
 * otelctx_thread_detach(). */
OTELCTX_RARE int otelctx_attach_failed(int why);
