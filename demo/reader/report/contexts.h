/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/clock.h"
#include "demo/reader/os/target.h"
#include "demo/reader/report/context.h"

#include <stdbool.h>
#include <stddef.h>

/* There must be one. More than these are counted, not read. */
#define OTELREAD_CONTEXTS_MAX 16

/* The contexts of one process. Begin with all zero. */
struct otelread_contexts {
    struct otelread_context *list; /* those of established mappings; without
                                      any, the first one that was rejected */
    size_t count;
    size_t unread;  /* established mappings beyond OTELREAD_CONTEXTS_MAX */
    bool no_memory; /* a kernel thread, or a process about to end */
};

/*
 * Finds every established mapping of the process. Without any, but with
 * mappings of the right name: the first of those and what is wrong with it,
 * after waiting for a writer that may be in its first publish.
 * Returns 0, -ENOMEM, or -errno of the process's files.
 * Rule: OTEP 4719, "Reading Protocol", steps 1 and 2.
 */
int otelread_contexts_find(struct otelread_contexts *contexts,
                           struct otelread_target *target,
                           struct otelread_patience patience);

/* Whether there is a mapping that was established: one worth reading. */
bool otelread_contexts_established(const struct otelread_contexts *contexts);

/* Reads them where they were found. Returns as otelread_context_read(). */
int otelread_contexts_read(struct otelread_contexts *contexts,
                           struct otelread_target *target,
                           struct otelread_patience patience);

/* Frees the payloads; the mappings remain, for the next read. */
void otelread_contexts_trim(struct otelread_contexts *contexts);

/* Frees everything: no context is left. no_memory stays as it is. */
void otelread_contexts_free(struct otelread_contexts *contexts);
