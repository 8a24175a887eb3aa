/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/api/thread_check.h"

#include <errno.h>

#include "config/traceparent.h"
#include "shim/process/context.h"
#include "shim/thread/storage.h"

struct otelctx_ids otelctx_ids_from(const uint8_t trace_id[16],
                                    const uint8_t span_id[8], uint8_t flags)
{
    struct otelctx_ids ids = {.trace_flags = flags & OTELCTX_TRACE_FLAGS};

    __builtin_memcpy(ids.trace_id, trace_id, sizeof(ids.trace_id));
    __builtin_memcpy(ids.span_id, span_id, sizeof(ids.span_id));
    return ids;
}

int otelctx_key_check(uint8_t key)
{
    if (otelctx_context_has_key(key))
        return 0;
    if (!(otelctx_storage_bits & OTELCTX_STORAGE_TLS))
        return -EOPNOTSUPP;
    return otelctx_context_has_yielded() ? -ESTALE : -EINVAL;
}

int otelctx_attr_check(uint8_t key, struct otelctx_span *value)
{
    const int err = otelctx_key_check(key);

    return err ? err : otelctx_value_cut(value);
}

int otelctx_record_fill(struct otelctx_record *record,
                        const struct otelctx_attribute *attributes,
                        size_t count)
{
    struct otelctx_change change;
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        const uint8_t key = attributes[i].key;
        struct otelctx_span value = {attributes[i].value, attributes[i].size};
        int err = otelctx_attr_check(key, &value);

        if (err == -EOPNOTSUPP || err == -ESTALE)
            return 1; /* as for all other keys */
        result |= err == 1;
        if (err >= 0)
            err = otelctx_change_plan(record, key, &value, &change);
        if (err < 0)
            return err;
        otelctx_change_apply(record, &change, key, &value);
    }
    return result;
}

bool otelctx_record_is_aligned(const struct otelctx_record *record)
{
    return (uintptr_t)record % 2 == 0;
}
