/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */

/*
 * Runs at each sample of a thread, between two of its instructions, and reads
 * the context that the thread has attached. OTEP 4947, "Thread-Local Context
 * Record".
 *
 * hosts/switcher.c says what a context consists of.
 */

#include "kernel.h"

#include <stddef.h>

struct record {
    __u32 trace_id[4];
    __u32 span_id[2];
    __u8 valid;
    __u8 trace_flags;
    __u16 attrs_size;
    struct {
        __u8 key, size;
        char value[8];
    } attribute;
};

/* The kernel's own: the loader finds the offsets. arch_prctl(2) and clone(2)
 * set the thread pointer of a libc here. */
struct thread_struct {
    unsigned long fsbase;
} __attribute__((preserve_access_index));
struct task_struct {
    struct thread_struct thread;
} __attribute__((preserve_access_index));

/* Of otel_thread_ctx_v1 from the thread pointer. */
volatile const __s64 offset;

/* How many samples: the order that the Go program expects. */
struct {
    __u64 whole, detached, invalid, unreadable, mixed;
} counts;
struct record first_mixed;

HELPER(struct task_struct *, get_current_task, void);
HELPER(long, probe_read_kernel, void *to, __u32 size, const void *from);

static int is_whole(const struct record *record)
{
    const __u32 word = record->trace_id[0];

    if (word == 0 || record->trace_id[1] != word ||
        record->trace_id[2] != word || record->trace_id[3] != word ||
        record->span_id[0] != word || record->span_id[1] != word ||
        record->trace_flags != (word & 3))
        return 0;
    if (record->attrs_size == 0)
        return 1;
    if (record->attrs_size != sizeof(record->attribute) ||
        record->attribute.key != 0 ||
        record->attribute.size != sizeof(record->attribute.value))
        return 0;
    for (unsigned i = 0; i < sizeof(record->attribute.value); i++) {
        const __u32 digit = word >> (28 - 4 * i) & 0xf;

        if (record->attribute.value[i] != (char)('a' + digit))
            return 0;
    }
    return 1;
}

/* Which of the counts this sample is. */
static __u64 *examine(void)
{
    const struct task_struct *task = get_current_task();
    struct record record = {};
    const void *thread_pointer, *at;

    if (probe_read_kernel(&thread_pointer, sizeof(thread_pointer),
                          &task->thread.fsbase) ||
        probe_read_user(&at, sizeof(at), thread_pointer + offset))
        return &counts.unreadable;
    if (!at)
        return &counts.detached;
    if (probe_read_user(&record, offsetof(struct record, attribute), at))
        return &counts.unreadable;
    if (record.valid != 1)
        return &counts.invalid;
    if (record.attrs_size > 0 &&
        probe_read_user(&record.attribute, sizeof(record.attribute),
                        at + offsetof(struct record, attribute)))
        return &counts.unreadable;
    if (is_whole(&record))
        return &counts.whole;
    if (counts.mixed == 0)
        first_mixed = record;
    return &counts.mixed;
}

SEC("perf_event")
int sample(void *context)
{
    (void)context;
    __sync_fetch_and_add(examine(), 1);
    return 0;
}
