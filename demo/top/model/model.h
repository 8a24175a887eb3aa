/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/model/attributes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The objects that samples refer to, both of this machine and of a recording.
 * Their numbers are those of the recording: see otelctx-recording(5). */

/* A program in a process; after an exec it is another one. */
struct oteltop_process {
    unsigned number;
    pid_t pid;
    char *command;   /* its arguments, blanks between; or its name */
    char *container; /* an id, or NULL */
    char *pod;       /* a name or an id, or NULL */
    char *cgroup;    /* a path, or NULL */
    char *context;   /* "ok", or why there is no process context */
    struct oteltop_attributes resource;
    struct oteltop_span **spans; /* by hash, or NULL */
    unsigned mark;               /* for the code that adds up times: */
    uint64_t marked_cpu_ns;
    bool is_recorded;
    struct oteltop_process *next; /* among those that have ended */
};

struct oteltop_thread {
    unsigned number;
    pid_t tid;
    char *name;
    struct oteltop_process *process;
    bool is_recorded;
    struct oteltop_thread *next; /* among those that have ended */
};

/* Threads and processes that have ended. They are freed once no sample refers
 * to them. */
struct oteltop_ended {
    struct oteltop_process *processes;
    struct oteltop_thread *threads;
};

/* A thread context. Contexts of one process with equal ids and attributes share
 * one. */
struct oteltop_span {
    unsigned number;
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t flags;
    struct oteltop_attributes attributes;
    uint64_t first_ns; /* time at which the ids were first seen */
    uint64_t last_ns;
    bool is_recorded;
    struct oteltop_span *next; /* next span with the same hash */
};

/* One look at one thread. */
struct oteltop_sample {
    uint64_t at_ns; /* since the first look */
    struct oteltop_thread *thread;
    struct oteltop_span *span; /* or NULL */
    const char *none;          /* why there is no span; a constant, or NULL */
    char state;                /* as in proc_pid_stat(5) */
    bool is_untrusted;         /* the thread ran while it was read */
    uint64_t cpu_ns;           /* the time that the sample stands for */
    uint64_t wall_ns;
};

/* Makes a process of which only the pid is set. NULL: no memory. */
struct oteltop_process *oteltop_process_new(pid_t pid);
void oteltop_process_free(struct oteltop_process *process);

/* Whether all texts are equal, and the resources' attributes, in the same
 * order. */
bool oteltop_process_is_same(const struct oteltop_process *a,
                             const struct oteltop_process *b);

struct oteltop_thread *oteltop_thread_new(struct oteltop_process *process,
                                          pid_t tid, const char *name);
void oteltop_thread_free(struct oteltop_thread *thread);

void oteltop_ended_add_process(struct oteltop_ended *ended,
                               struct oteltop_process *process);
void oteltop_ended_add_thread(struct oteltop_ended *ended,
                              struct oteltop_thread *thread);
void oteltop_ended_free(struct oteltop_ended *ended);

/* Makes a span, which takes the attributes of `like`. NULL: no memory. */
struct oteltop_span *oteltop_span_new(struct oteltop_span *like);
void oteltop_span_free(struct oteltop_span *span);

/*
 * The span of a process that is equal to this one, or a new one, which takes
 * the attributes; in any case they are no longer the caller's. NULL: no memory.
 */
struct oteltop_span *oteltop_span_intern(struct oteltop_process *process,
                                         struct oteltop_span *like,
                                         uint64_t now_ns);

/* Frees the spans that were last seen before since_ns. */
void oteltop_process_forget(struct oteltop_process *process, uint64_t since_ns);
