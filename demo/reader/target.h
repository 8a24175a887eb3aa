/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_TARGET_H
#define OTELREAD_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Another process, its memory and its /proc files. */
struct otelread_target {
    pid_t pid;
    bool found;       /* somebody had that number */
    pid_t task;       /* a live thread: pid, unless the main thread exited */
    uint64_t started; /* ticks since boot: who holds the number pid */
    bool by_file;     /* process_vm_readv refused: /proc/PID/mem it is */
    int memory;       /* that file, or -1; by_file only */
    char command[64]; /* as the process calls itself: any bytes */
};

/*
 * Returns 0, -ESRCH (no such process, or it ended and nobody has waited for
 * it yet) or -errno. When it fails there is nothing to close; pid is set, and
 * when found the command too.
 */
int otelread_target_open(struct otelread_target *target, pid_t pid);

void otelread_target_close(struct otelread_target *target);

/* 0 while the number still belongs to the same live process, or -ESRCH. */
int otelread_target_check(const struct otelread_target *target);

/* A descriptor of /proc/PID/maps, or -errno. */
int otelread_target_maps(const struct otelread_target *target);

/*
 * Copies exactly size bytes. Returns 0, -EFAULT (not all of it is readable),
 * -ESRCH, -EACCES or -EPERM; out is unspecified then.
 */
int otelread_target_read(struct otelread_target *target, uint64_t address,
                         void *out, size_t size);

#endif
