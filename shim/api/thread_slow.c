/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/api/thread_slow.h"

#include <errno.h>

#include "shim/api/thread_check.h"
#include "shim/start/start.h"
#include "shim/thread/slot.h"
#include "shim/thread/storage.h"

int otelctx_attach_slow(const uint8_t trace_id[16], const uint8_t span_id[8],
                        uint8_t flags)
{
    const struct otelctx_ids ids = otelctx_ids_from(trace_id, span_id, flags);
    const int err = otelctx_start();

    if (err)
        return err;
    return otelctx_ids_allowed(&ids)
               ? otelctx_thread_attach(&ids, OTELCTX_SPAN(""))
               : otelctx_attach_failed(-EINVAL);
}

int otelctx_attach_with_slow(const uint8_t trace_id[16],
                             const uint8_t span_id[8], uint8_t flags,
                             const struct otelctx_attribute *attributes,
                             size_t count)
{
    const struct otelctx_ids ids = otelctx_ids_from(trace_id, span_id, flags);
    struct otelctx_record record; /* only its attributes */
    int err = otelctx_start(), cut;

    if (err)
        return err;
    record.attrs_size = 0;
    cut = otelctx_ids_allowed(&ids)
              ? otelctx_record_fill(&record, attributes, count)
              : -EINVAL;
    if (cut < 0)
        return otelctx_attach_failed(cut);
    err = otelctx_thread_attach(
        &ids,
        (struct otelctx_span){(const char *)record.attrs, record.attrs_size});
    return err ? err : cut;
}

int otelctx_attach64_slow(uint64_t span_id, uint64_t root_span_id)
{
    uint8_t trace[16] = {0}, span[8];

    otelctx_store_number(trace + 8, root_span_id);
    otelctx_store_number(span, span_id);
    return otelctx_attach_elsewhere(trace, span, 0);
}

/* The thread goes on to work for somebody whom nobody knows. */
int otelctx_attach_failed(int why)
{
    const int err = otelctx_thread_detach();

    return err ? err : why;
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
    return otelctx_record_is_aligned(record) || !otelctx_storage_bits
               ? otelctx_thread_swap(record, previous)
               : -EINVAL;
}
