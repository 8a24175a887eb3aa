/* SPDX-License-Identifier: Apache-2.0 */

/* The exports for thread contexts: check the arguments and forward. Once the
 * shim has started, none of them makes a system call. */

#define OTELCTX_LINK
#include "shim/otelctx.h"

#include <errno.h>

#include "config/traceparent.h"
#include "shim/api_thread.h"
#include "shim/context.h"
#include "shim/preload.h"
#include "shim/thread.h"

static struct otelctx_ids ids_from(const uint8_t trace_id[16],
                                   const uint8_t span_id[8], uint8_t flags)
{
    struct otelctx_ids ids = {.trace_flags = flags};

    __builtin_memcpy(ids.trace_id, trace_id, sizeof(ids.trace_id));
    __builtin_memcpy(ids.span_id, span_id, sizeof(ids.span_id));
    return ids;
}

int otelctx_attach_any(const uint8_t trace_id[16], const uint8_t span_id[8],
                       uint8_t flags)
{
    const struct otelctx_ids ids = ids_from(trace_id, span_id, flags);
    const int err = otelctx_start();

    if (err)
        return err;
    return otelctx_ids_allowed(&ids) ? otelctx_thread_attach(&ids) : -EINVAL;
}

OTELCTX_API int otelctx_attach_traceparent(const char *text, size_t len)
{
    struct otelctx_traceparent parent;
    struct otelctx_fault fault;
    struct otelctx_ids ids;
    int err = otelctx_start();

    if (!err)
        err = otelctx_traceparent_parse((struct otelctx_span){text, len},
                                        &parent, &fault);
    if (err)
        return err;
    ids = ids_from(parent.trace_id, parent.span_id, parent.flags);
    return otelctx_thread_attach(&ids);
}

/* Can readers know the key? Not by our map, when they go by another one. */
static int check_key(uint8_t key)
{
    if (otelctx_context_has_key(key))
        return 0;
    return otelctx_context_has_yielded() ? -ESTALE : -EINVAL;
}

/* And does the value fit? 1 when it was cut. */
static int check_attr(uint8_t key, struct otelctx_span *value)
{
    const int err = check_key(key);

    return err ? err : otelctx_value_cut(value);
}

int otelctx_attr_any(uint8_t key, const char *value, size_t len)
{
    struct otelctx_span text = {value, len};
    int err = otelctx_start(), cut;

    if (err)
        return err;
    cut = check_attr(key, &text);
    if (cut < 0)
        return cut;
    err = otelctx_thread_attr(key, &text);
    return err ? err : cut;
}

OTELCTX_API int otelctx_attr_unset(uint8_t key)
{
    int err = otelctx_start();

    if (!err)
        err = check_key(key);
    return err ? err : otelctx_thread_attr(key, NULL);
}

int otelctx_detach_any(void)
{
    const int err = otelctx_start();

    return err ? err : otelctx_thread_detach();
}

OTELCTX_API int otelctx_get(struct otelctx_ids *out)
{
    const int err = otelctx_start();

    return err ? err : otelctx_thread_get(out);
}

OTELCTX_API struct otelctx_record *otelctx_pin(void)
{
    return otelctx_start() ? NULL : otelctx_thread_pin();
}

static bool is_aligned(const struct otelctx_record *record)
{
    return (uintptr_t)record % 2 == 0;
}

static bool is_record(const struct otelctx_record *record)
{
    return record && is_aligned(record);
}

OTELCTX_API int otelctx_record_init(struct otelctx_record *record,
                                    const uint8_t trace_id[16],
                                    const uint8_t span_id[8], uint8_t flags)
{
    const struct otelctx_ids ids = ids_from(trace_id, span_id, flags);
    const int err = otelctx_start();

    if (err)
        return err;
    if (!is_record(record) || !otelctx_ids_allowed(&ids))
        return -EINVAL;
    otelctx_record_write(record, &ids);
    record->valid = 1;
    return 0;
}

OTELCTX_API int otelctx_record_attr(struct otelctx_record *record, uint8_t key,
                                    const char *value, size_t len)
{
    struct otelctx_span text = {value, len};
    int err = otelctx_start(), cut;

    if (err)
        return err;
    cut = is_record(record) ? check_attr(key, &text) : -EINVAL;
    if (cut < 0)
        return cut;
    otelctx_thread_forget_keys(record);
    err = otelctx_record_change(record, key, &text);
    return err ? err : cut;
}

int otelctx_swap_any(struct otelctx_record *record,
                     struct otelctx_record **previous)
{
    const int err = otelctx_start();

    if (err)
        return err;
    return is_aligned(record) ? otelctx_thread_swap(record, previous) : -EINVAL;
}
