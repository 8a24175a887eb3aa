/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#pragma once

/* What the two programs use of the kernel. They include no header of the shim,
 * and need none of libbpf's. */

#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))

/* The kernel lets only such programs read the memory of processes. */
char licence[] SEC("license") = "GPL";

/* bpf-helpers(7) */
#define HELPER(result, name, ...)                                              \
    static result (*const name)(__VA_ARGS__) = (void *)BPF_FUNC_##name

HELPER(long, probe_read_user, void *to, __u32 size, const void *from);
