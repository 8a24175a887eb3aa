/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_THREADS_H
#define OTELREAD_THREADS_H

#include "demo/reader/context.h"
#include "demo/reader/keymap.h"
#include "demo/reader/report.h"
#include "demo/reader/symbol.h"
#include "demo/reader/thread.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the threads of a process can be read at all. The names are in
 * otelctx-read(1), "JSON". */
enum otelread_threads_status {
    OTELREAD_THREADS_OK,
    OTELREAD_THREADS_NO_CONTEXT,    /* no process context to go by */
    OTELREAD_THREADS_NOT_ANNOUNCED, /* it says nothing of threads yet */
    OTELREAD_THREADS_OTHER_SCHEMA,
    OTELREAD_THREADS_NO_SYMBOL,
    OTELREAD_THREADS_UNSUPPORTED, /* libc or architecture */
    OTELREAD_THREADS_NO_PERMISSION,
    OTELREAD_THREADS_ERROR,
};

/* The thread contexts of one process. */
struct otelread_threads {
    enum otelread_threads_status status;
    char message[512]; /* what is wrong, unless OK */
    bool stop;         /* each thread while it is read */
    struct otelread_keymap map;
    struct otelread_context renewed; /* what the map is from, once refreshed */
    bool has_symbol;
    struct otelread_symbol symbol;
    struct otelread_thread *threads; /* by tid; OK only */
    size_t count;
    size_t room;
};

/*
 * Reads the threads of a process whose context is in the report, and adds
 * them to it. Returns 0 or -EAGAIN: meanwhile the process began another
 * program, or is ending, so the whole report is to be made again.
 * Rule: OTEP 4947, "Reading Protocol".
 */
int otelread_threads_read(struct otelread_report *report, bool stop);

void otelread_threads_free(struct otelread_threads *threads);

/* "ok", "no_context" and so on; never NULL. */
const char *otelread_threads_status_name(enum otelread_threads_status status);

/* The status of the process with that of its threads: what to exit with. */
enum otelread_status
otelread_threads_conclude(const struct otelread_report *report);

#endif
