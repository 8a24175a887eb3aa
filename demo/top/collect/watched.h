/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_WATCHED_H
#define OTELTOP_WATCHED_H

#include "demo/reader/report/report.h"
#include "demo/top/collect/cpu.h"
#include "demo/top/model/model.h"

#include <stdbool.h>
#include <stdint.h>

/* A thread, and what it has used since it was sampled last. */
struct oteltop_task {
    struct oteltop_thread *thread;
    int schedstat; /* a descriptor, or negative */
    struct oteltop_schedstat now;
    uint64_t cpu_ns;  /* owed: stands for the next sample */
    uint64_t wall_ns; /* likewise, as long as it is due */
    char state;
    bool is_due;      /* for a sample, at this look */
    bool was_sampled; /* since the last table */
};

/*
 * A process, as it is looked at again and again. Begin with pid, ended
 * and is_new, and all else zero.
 */
struct oteltop_watched {
    pid_t pid;
    struct oteltop_ended *ended;     /* where to put what has ended */
    struct oteltop_process *process; /* the program it runs now */
    struct otelread_report report;
    struct oteltop_task *tasks; /* by tid */
    size_t count;
    size_t next_sampled; /* an index of tasks: who comes next */
    size_t next_stopped;
    uint64_t cpu_ns;       /* of the process, at the last look */
    uint64_t idle_ns;      /* for how long cpu_ns has been the same */
    uint64_t accounted_ns; /* of cpu_ns: what samples stood for */
    unsigned long links;   /* of /proc/PID/task: another one, other threads */
    bool are_known;        /* all threads were listed: another one is new */
    bool has_tls;
    bool has_contexts; /* threads keep contexts: each is sampled */
    bool is_new;       /* it began while others were looked at */
    bool is_stale;     /* it has another context, or executes another program */
    bool has_ended;
};

/*
 * Opens the process, or looks whether its context, its program and where its
 * threads keep contexts are still the same. Threads are read afterwards, or
 * not at all. Returns 0, -ESRCH or -ENOMEM.
 */
int oteltop_watched_update(struct oteltop_watched *watched);

/*
 * Looks which of its threads have run since the last look, which took this
 * long, and sets is_due of those that are to be sampled: those that run or
 * wait in the kernel, or with every all of them.
 */
void oteltop_watched_look(struct oteltop_watched *watched, uint64_t passed_ns,
                          bool every);

/*
 * The processor time that no sample stands for and none will: of threads that
 * have ended, and of those that nobody looks at.
 */
uint64_t oteltop_watched_unseen(const struct oteltop_watched *watched);

void oteltop_watched_free(struct oteltop_watched *watched);

#endif
