/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */

/*
 * Runs when any process calls prctl: a process that names its context has
 * published, updated or dropped it. OTEP 4719, "Publication Protocol" and
 * "Updating Protocol". Kernels without CONFIG_ANON_VMA_NAME refuse the call,
 * after this.
 */

#include "kernel.h"

#include <linux/prctl.h>

enum {
    PAYLOAD_MAX = 1024 /* of what the test publishes */
};

struct header {
    char signature[8];
    __u32 version;
    __u32 payload_size;
    __u64 published_at_ns;
    __u64 payload;
};

struct event {
    __u64 at_ns; /* CLOCK_BOOTTIME, as in the header */
    __u32 pid;
    __u32 payload_size; /* 0: not read */
    struct header header;
    __u8 payload[PAYLOAD_MAX];
};

struct {
    int (*type)[BPF_MAP_TYPE_RINGBUF];
    int (*max_entries)[1 << 22];
} events SEC(".maps");

/* The pid namespace: processes of others are left out. */
volatile const __u64 namespace_device, namespace_inode;

/* Names that could not be read, and events for which there was no room. */
__u64 unreadable, dropped;

/* /sys/kernel/tracing/events/syscalls/sys_enter_prctl/format */
struct arguments {
    __u64 common, number, option, what, start, size, name;
};

HELPER(__u64, ktime_get_boot_ns, void);
HELPER(long, get_ns_current_pid_tgid, __u64 device, __u64 inode,
       struct bpf_pidns_info *out, __u32 size);
HELPER(void *, ringbuf_reserve, void *ring, __u64 size, __u64 flags);
HELPER(void, ringbuf_submit, void *data, __u64 flags);

static int is_context(const void *name)
{
    static const char expected[] = "OTEL_CTX";
    char found[sizeof(expected)];

    if (probe_read_user(found, sizeof(found), name)) {
        __sync_fetch_and_add(&unreadable, 1);
        return 0;
    }
    for (unsigned i = 0; i < sizeof(expected); i++)
        if (found[i] != expected[i])
            return 0;
    return 1;
}

SEC("tracepoint/syscalls/sys_enter_prctl")
int notice(const struct arguments *call)
{
    struct bpf_pidns_info pid;
    struct event *event;

    if (call->option != PR_SET_VMA || call->what != PR_SET_VMA_ANON_NAME ||
        get_ns_current_pid_tgid(namespace_device, namespace_inode, &pid,
                                sizeof(pid)) ||
        !is_context((const void *)call->name))
        return 0;
    event = ringbuf_reserve(&events, sizeof(*event), 0);
    if (!event) {
        __sync_fetch_and_add(&dropped, 1);
        return 0;
    }
    event->at_ns = ktime_get_boot_ns();
    event->pid = pid.tgid;
    event->payload_size = 0;
    if (!probe_read_user(&event->header, sizeof(event->header),
                         (const void *)call->start)) {
        const __u32 size = event->header.payload_size;

        if (size <= PAYLOAD_MAX &&
            !probe_read_user(event->payload, size,
                             (const void *)event->header.payload))
            event->payload_size = size;
    }
    ringbuf_submit(event, 0);
    return 0;
}
