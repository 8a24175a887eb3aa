/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/keymap.h"
#include "demo/reader/report/context.h"
#include "demo/reader/report/ring.h"
#include "demo/reader/report/sample.h"
#include "demo/reader/report/search.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the TLS of a process's threads can be read at all. The names are in
 * otelctx-read(1), "JSON".
 */
enum otelread_threads_status {
    OTELREAD_THREADS_OK,
    OTELREAD_THREADS_NO_CONTEXT,    /* there is no process context */
    OTELREAD_THREADS_NOT_ANNOUNCED, /* its context has no key map yet */
    OTELREAD_THREADS_OTHER_SCHEMA,
    OTELREAD_THREADS_NO_SYMBOL,
    OTELREAD_THREADS_UNSUPPORTED, /* libc or architecture */
    OTELREAD_THREADS_NO_PERMISSION,
    OTELREAD_THREADS_BUSY, /* a library's memory does not answer */
    OTELREAD_THREADS_ERROR,
};

/* The thread contexts of one process. */
struct otelread_threads {
    enum otelread_threads_status status;
    char message[512];           /* what is wrong, of one thread when OK */
    bool silent;                 /* memory of a thread does not answer */
    enum otelread_manner manner; /* of reading a thread */
    struct otelread_keymap map;
    struct otelread_context renewed; /* owns the map, once it was refreshed */
    bool has_symbol;                 /* of TLS: search.tls */
    bool has_profiler;
    struct otelread_search search;
    int64_t distance; /* see struct otelread_places */
    struct otelread_ring ring;
    struct otelread_sample sample; /* empty without any storage */
};

/*
 * Reads the threads of a process whose context was read, or, without a context,
 * its ring alone, and leaves status as it is; begin with stop and all else
 * zero. May be called again: it then searches for the variables only when that
 * may help. Returns 0 or -EAGAIN: meanwhile the process began another program,
 * or is ending, so its context is to be read again, too. Rule: OTEP 4947,
 * "Reading Protocol".
 */
int otelread_threads_read(struct otelread_threads *threads,
                          struct otelread_target *target,
                          const struct otelread_context *context);

/*
 * Only finds where the threads keep contexts, and reads none of them. Returns
 * as otelread_threads_read().
 */
int otelread_threads_find(struct otelread_threads *threads,
                          struct otelread_target *target,
                          const struct otelread_context *context);

/*
 * Replaces the sample by these threads alone, read where contexts were found
 * last; threads->map may become a newer one.
 * Returns 0, -ENOMEM, -EAGAIN as above, or -errno: the sample is empty.
 */
int otelread_threads_read_some(struct otelread_threads *threads,
                               struct otelread_target *target,
                               const struct otelread_context *context,
                               const pid_t *tids, size_t count);

void otelread_threads_free(struct otelread_threads *threads);

/* Whether the process keeps contexts anywhere. */
bool otelread_threads_have_storage(const struct otelread_threads *threads);

/* "ok", "no_context" and so on; never NULL. */
const char *otelread_threads_status_name(enum otelread_threads_status status);
