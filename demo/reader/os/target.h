/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/maps.h"
#include "demo/reader/os/resident.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OTELREAD_SILENT "its memory does not answer"

/* A read that was postponed, and its result once it was made. */
struct otelread_missing {
    uint64_t address;
    size_t size;
    int error; /* -EAGAIN: not made yet */
};

/* Another process, its memory and its /proc files. */
struct otelread_target {
    pid_t pid;
    bool found;       /* a process had that number */
    pid_t task;       /* a live thread: pid, unless the main thread exited */
    uint64_t started; /* ticks since boot: tells processes with the same pid
                         apart */
    char command[64]; /* as the process calls itself: any bytes */

    int directory;     /* /proc/PID; 0: not open. It never becomes that of a
                          later process with the same pid. */
    bool opened;       /* resident is open */
    bool by_directory; /* resident was opened by directory */
    struct otelread_resident resident;
    bool silent;        /* a read timed out, or all reads took too long */
    uint64_t waited_ns; /* for the helper, in total */
    bool only_resident; /* reads must not block: one that might is noted in
                           missing instead */
    struct otelread_missing missing;

    bool may_wait; /* this process is the helper: reads may block */
    bool by_file;  /* process_vm_readv is refused: read /proc/PID/mem */
    int memory;    /* that file, or -1; by_file only */
};

/*
 * Returns 0, -ESRCH (no such process, or a zombie) or -errno. When it fails
 * there is nothing to close; pid is set, and command too if found is.
 */
int otelread_target_open(struct otelread_target *target, pid_t pid);

void otelread_target_close(struct otelread_target *target);

/* Closes descriptors until the next read: watchers have many targets. */
void otelread_target_trim(struct otelread_target *target);

/* 0 while pid still belongs to the same live process, else -ESRCH. */
int otelread_target_check(const struct otelread_target *target);

/* Opens a file of /proc/PID. Returns a descriptor or -errno. */
int otelread_target_file(const struct otelread_target *target,
                         const char *file);

/* Opens /proc/PID/maps. */
int otelread_target_maps(const struct otelread_target *target);
