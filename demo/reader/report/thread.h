/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/stat.h"
#include "demo/reader/os/target.h"
#include "demo/reader/os/tracee.h"
#include "demo/reader/payload/record.h"
#include "demo/reader/report/places.h"
#include "demo/reader/report/storages.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What became of one thread. The names are in otelctx-read(1), "JSON". */
enum otelread_thread_status {
    OTELREAD_THREAD_ATTACHED,
    OTELREAD_THREAD_DETACHED,  /* the pointer is NULL */
    OTELREAD_THREAD_INVALID,   /* it has a record that is not valid */
    OTELREAD_THREAD_UNTOUCHED, /* it never used the variable */
    OTELREAD_THREAD_MALFORMED,
    OTELREAD_THREAD_UNREADABLE, /* the pointer leads to no memory */
    OTELREAD_THREAD_ENDED,
    OTELREAD_THREAD_NOT_STOPPED, /* in time */
    OTELREAD_THREAD_NO_PERMISSION,
    OTELREAD_THREAD_BUSY, /* its memory does not answer */
    OTELREAD_THREAD_ERROR,
    OTELREAD_THREAD_NO_TLS, /* the process keeps no contexts there */
};

/* Begin with tid and all else zero. The status is that of its TLS. */
struct otelread_thread {
    pid_t tid;
    enum otelread_thread_status status;
    struct otelread_stat stat;
    struct otelread_record record;
    uint64_t stopped_ns;               /* the longest stop, at most */
    pid_t tracer;                      /* NO_PERMISSION: its tracer, or 0 */
    bool stopped;                      /* it was stopped, and released */
    bool was_quiet;                    /* it was asked to stop, and had not */
    bool has_record;                   /* the pointer was not NULL */
    bool has_profiler;                 /* and a context in that variable */
    char message[384];                 /* what is odd, or empty */
    struct otelread_meaning meaning;   /* of the record, when attached */
    struct otelread_storages storages; /* begin with inside */
};

/*
 * Stops a thread and reads it. When it does not stop in time, and busy_ns is 0,
 * it is read as it is, if it is quiet by then. Memory that is not resident is
 * fetched while the thread runs; then the thread is stopped once more. Returns
 * whether the calling thread still holds it: see struct otelread_tracee.
 */
bool otelread_thread_read_stopped(struct otelread_thread *thread,
                                  struct otelread_target *target,
                                  const struct otelread_places *places,
                                  struct otelread_limit limit);

/* Reads a running thread repeatedly, until two snapshots are the same. */
void otelread_thread_read_running(struct otelread_thread *thread,
                                  struct otelread_target *target,
                                  const struct otelread_places *places);

/* Reads what is not in TLS, of a thread that may be running. */
void otelread_thread_read_ring(struct otelread_thread *thread,
                               struct otelread_target *target,
                               const struct otelread_places *places);

/*
 * Whether its storages have different contexts: see struct otelread_storages.
 * Before its record is interpreted.
 */
bool otelread_thread_disagrees(struct otelread_thread *thread);

/* Whether it has ids and attributes: its record is valid or malformed. */
bool otelread_thread_is_attached(const struct otelread_thread *thread);

/*
 * Decodes the record of an attached thread by the key map: sets meaning, status
 * and message. May be called again with a newer map. Returns whether the record
 * has keys that the map lacks. The meaning points into *thread, which must not
 * move any more.
 */
bool otelread_thread_interpret(struct otelread_thread *thread,
                               const struct otelread_keymap *map);

/* Gives back what otelread_thread_interpret() allocated. */
void otelread_thread_free(struct otelread_thread *thread);

/* "attached" and so on; never NULL. */
const char *otelread_thread_status_name(enum otelread_thread_status status);
