/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/api/thread_slow.h"

#include <errno.h>

#include "shim/api/thread_check.h"
#include "shim/start/start.h"
#include "shim/thread/slot.h"

int otelctx_attach_slow(const uint8_t trace_id[16], const uint8_t span_id[8],
                        uint8_t flags)
{
    const struct otelctx_ids ids = otelctx_ids_from(trace_id, span_id, flags);
    const int err = otelctx_start();

    if (err)
        return err;
    return otelctx_ids_allowed(&ids) ? otelctx_thread_attach(&ids) : -EINVAL;
}

int otelctx_attr_slow(uint8_t key, const char *value, size_t len)
{
    struct otelctx_span text = {value, len};
    int err = otelctx_start(), cut;

    if (err)
        return err;
    cut = otelctx_attr_check(key, &text);
    if (cut < 0)
        return cut;
    err = otelctx_thread_attr(key, &text);
    return err ? err : cut;
}

int otelctx_detach_slow(void)
{
    const int err = otelctx_start();

    return err ? err : otelctx_thread_detach();
}

int otelctx_get_slow(struct otelctx_ids *out)
{
    const int err = otelctx_start();

    return err ? err : otelctx_thread_get(out);
}

int otelctx_swap_slow(struct otelctx_record *record,
                      struct otelctx_record **previous)
{
    const int err = otelctx_start();

    if (err)
        return err;
    return otelctx_record_is_aligned(record)
               ? otelctx_thread_swap(record, previous)
               : -EINVAL;
}
