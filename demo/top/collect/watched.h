/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/report.h"
#include "demo/top/collect/cpu.h"
#include "demo/top/model/model.h"

#include <stdbool.h>
#include <stdint.h>

/* A thread, and the time that it has used since its last sample. */
struct oteltop_task {
    struct oteltop_thread *thread;
    int schedstat; /* a descriptor, or negative */
    struct oteltop_schedstat now;
    uint64_t cpu_ns;  /* owed time, which the next sample stands for */
    uint64_t wall_ns; /* the same of wall time, while is_due */
    char state;
    bool is_due;      /* is to be sampled at this look */
    bool was_sampled; /* since the last table */
};

/* A process that is sampled. Set pid, ended and is_new, and all else to zero.
 */
struct oteltop_watched {
    pid_t pid;
    struct oteltop_ended
        *ended; /* takes threads and processes that have ended */
    struct oteltop_process *process; /* the program it runs now */
    struct otelread_report report;
    struct oteltop_task *tasks; /* sorted by tid */
    size_t count;
    size_t next_sampled; /* index into tasks: the thread to begin with */
    size_t next_stopped;
    uint64_t cpu_ns;       /* of the process, at the last look */
    uint64_t idle_ns;      /* time since cpu_ns last changed */
    uint64_t accounted_ns; /* the part of cpu_ns that samples stood for */
    unsigned long links;   /* of /proc/PID/task; a change means other threads */
    bool are_known;        /* all threads are listed: a further one is new */
    bool has_tls;
    bool has_contexts; /* threads keep contexts, so each is sampled */
    bool is_new;       /* began after sampling had begun */
    bool is_stale; /* published another context, or executed another program */
    bool has_ended;
};

/* Opens the process, or checks whether its context, its program and its
 * threads' storage are still the same. Does not read threads. Returns 0, -ESRCH
 * or -ENOMEM. */
int oteltop_watched_update(struct oteltop_watched *watched);

/* Finds the threads that have run in the passed_ns since the last look, and
 * sets is_due of those to sample: threads that run or wait in the kernel, or
 * all with `every`. */
void oteltop_watched_look(struct oteltop_watched *watched, uint64_t passed_ns,
                          bool every);

/* The processor time that no sample will stand for: of ended threads, and of
 * threads that are not looked at. */
uint64_t oteltop_watched_unseen(const struct oteltop_watched *watched);

void oteltop_watched_free(struct oteltop_watched *watched);
