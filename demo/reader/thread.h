/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_THREAD_H
#define OTELREAD_THREAD_H

#include "demo/reader/record.h"
#include "demo/reader/stat.h"
#include "demo/reader/symbol.h"
#include "demo/reader/target.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What became of one thread. The names are in otelctx-read(1), "JSON". */
enum otelread_thread_status {
    OTELREAD_THREAD_ATTACHED,
    OTELREAD_THREAD_DETACHED,  /* the pointer is NULL */
    OTELREAD_THREAD_INVALID,   /* there is a record, but it does not count */
    OTELREAD_THREAD_UNTOUCHED, /* it never had the variable */
    OTELREAD_THREAD_MALFORMED,
    OTELREAD_THREAD_UNREADABLE, /* a pointer to nowhere */
    OTELREAD_THREAD_ENDED,
    OTELREAD_THREAD_NOT_STOPPED, /* in time */
    OTELREAD_THREAD_NO_PERMISSION,
    OTELREAD_THREAD_ERROR,
};

/* Begin with tid and all else zero. */
struct otelread_thread {
    pid_t tid;
    enum otelread_thread_status status;
    struct otelread_stat stat;
    struct otelread_record record;
    uint64_t stopped_ns; /* at most */
    pid_t tracer;        /* NO_PERMISSION: who traces it already, or 0 */
    bool stopped;        /* and let go again, within stopped_ns */
    bool has_record;     /* the pointer was not NULL */
    char message[384];   /* what is odd, or empty */
};

/*
 * Reads a thread that is stopped for just that. Returns whether the calling
 * thread still holds it: see struct otelread_tracee.
 */
bool otelread_thread_read_stopped(struct otelread_thread *thread,
                                  struct otelread_target *target,
                                  const struct otelread_symbol *symbol,
                                  uint64_t limit_ns);

/* Reads a thread that runs on: again, until it was the same twice. */
void otelread_thread_read_running(struct otelread_thread *thread,
                                  struct otelread_target *target,
                                  const struct otelread_symbol *symbol);

/* Attached, as far as reading goes, or malformed: has ids and attributes. */
bool otelread_thread_is_attached(const struct otelread_thread *thread);

/* Status and message of such a thread, by what its record means. */
void otelread_thread_judge(struct otelread_thread *thread,
                           const struct otelread_meaning *meaning);

__attribute__((format(printf, 3, 4))) void
otelread_thread_say(struct otelread_thread *thread,
                    enum otelread_thread_status status, const char *format,
                    ...);

/* "attached" and so on; never NULL. */
const char *otelread_thread_status_name(enum otelread_thread_status status);

#endif
