/* SPDX-License-Identifier: Apache-2.0 */

/* The exported functions for thread contexts, except the five that have a fast
 * path: see thread_fast.c. They check their arguments and call shim/thread.
 * Once the shim has started, none of them makes a system call. */

#define OTELCTX_LINK
#include <errno.h>

#include "config/traceparent.h"
#include "shim/api/thread_check.h"
#include "shim/api/thread_slow.h"
#include "shim/otelctx.h"
#include "shim/process/context.h"
#include "shim/process/guard.h"
#include "shim/start/start.h"
#include "shim/thread/profiler.h"
#include "shim/thread/slot.h"
#include "shim/thread/storage.h"

OTELCTX_API int otelctx_attach_traceparent(const char *text, size_t len)
{
    struct otelctx_traceparent parent;
    struct otelctx_fault fault;
    struct otelctx_ids ids;
    const int err = otelctx_start();

    if (err)
        return err;
    if (otelctx_traceparent_parse((struct otelctx_span){text, len}, &parent,
                                  &fault))
        return otelctx_attach_failed(-EINVAL);
    ids = otelctx_ids_from(parent.trace_id, parent.span_id, parent.flags);
    return otelctx_thread_attach(&ids, OTELCTX_SPAN(""));
}

OTELCTX_API int otelctx_attr_unset(uint8_t key)
{
    int err = otelctx_start();

    if (!err)
        err = otelctx_key_check(key);
    return err ? err : otelctx_thread_attr(key, NULL);
}

OTELCTX_API struct otelctx_record *otelctx_pin(void)
{
    return otelctx_start() ? NULL : otelctx_thread_pin();
}

/* Where no storage is on, the program needs no records. */
static int start_for_record(void)
{
    const int err = otelctx_start();

    return err || otelctx_storage_bits ? err : -EOPNOTSUPP;
}

static bool is_record(const struct otelctx_record *record)
{
    return record && otelctx_record_is_aligned(record);
}

static __attribute__((noinline)) int
init_record(struct otelctx_record *record, const struct otelctx_ids *ids,
            const struct otelctx_attribute *attributes, size_t count)
{
    int result = start_for_record();

    if (result)
        return result;
    if (!is_record(record) || !otelctx_ids_allowed(ids))
        return -EINVAL;
    otelctx_record_write(record, ids);
    result = otelctx_record_fill(record, attributes, count);
    record->valid = result >= 0;
    return result;
}

OTELCTX_API int otelctx_record_init(struct otelctx_record *record,
                                    const uint8_t trace_id[16],
                                    const uint8_t span_id[8], uint8_t flags)
{
    const struct otelctx_ids ids = otelctx_ids_from(trace_id, span_id, flags);

    return init_record(record, &ids, NULL, 0);
}

OTELCTX_API int otelctx_record_init_with(
    struct otelctx_record *record, const uint8_t trace_id[16],
    const uint8_t span_id[8], uint8_t flags,
    const struct otelctx_attribute *attributes, size_t count)
{
    const struct otelctx_ids ids = otelctx_ids_from(trace_id, span_id, flags);

    return init_record(record, &ids, attributes, count);
}

OTELCTX_API int otelctx_record_attr(struct otelctx_record *record, uint8_t key,
                                    const char *value, size_t len)
{
    struct otelctx_span text = {value, len};
    int err = start_for_record(), cut;

    if (err)
        return err;
    cut = is_record(record) ? otelctx_attr_check(key, &text) : -EINVAL;
    if (cut < 0)
        return cut;
    otelctx_thread_assume_all_keys(record);
    err = otelctx_record_change(record, key, &text);
    return err ? err : cut;
}

OTELCTX_API int otelctx_get_by_tid(pid_t tid, struct otelctx_ids *out)
{
    struct otelctx_numbers ids;
    int err = otelctx_start();

    if (!err && !(otelctx_storage_bits & OTELCTX_STORAGE_RING))
        err = -EOPNOTSUPP;
    if (!err)
        err = otelctx_ring_get((uint32_t)tid, &ids);
    if (err)
        return err;
    if (!(ids.trace_high | ids.trace_low | ids.span))
        return -ENOENT;
    otelctx_store_number(out->trace_id, ids.trace_high);
    otelctx_store_number(out->trace_id + 8, ids.trace_low);
    otelctx_store_number(out->span_id, ids.span);
    out->trace_flags = 0;
    return 0;
}

OTELCTX_API int otelctx_tag(unsigned index, uint32_t value)
{
    const int err = otelctx_start();

    if (err)
        return err;
    if (!(otelctx_storage_bits & OTELCTX_STORAGE_PROFILER))
        return -EOPNOTSUPP;
    if (index >= OTELCTX_PROFILER_TAGS)
        return -EINVAL;
    otelctx_profiler_tag(index, value);
    return 0;
}

OTELCTX_API int otelctx_storage(void)
{
    const int err = otelctx_start();

    return err ? err : (int)otelctx_storage_bits;
}

OTELCTX_API int otelctx_storage_close(void)
{
    int err = otelctx_start();

    if (!err)
        err = otelctx_guard_enter();
    if (err)
        return err;
    if (otelctx_storage_bits != 0) {
        (void)otelctx_thread_detach();
        otelctx_storage_stop();
        otelctx_context_forget_keys();
        otelctx_context_hide_threads();
        otelctx_context_update();
    }
    otelctx_guard_leave();
    return 0;
}
