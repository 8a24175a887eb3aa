/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/target.h"

#include <stddef.h>
#include <stdint.h>

/* The most bytes of a request and of an answer. */
#define OTELREAD_REQUEST_MAX 64
#define OTELREAD_ANSWER_MAX  65536

/*
 * A read of memory that the target (userfaultfd) or a file system in user space
 * (FUSE) provides on demand may block for ever, and only a fatal signal ends
 * it. So a child process, the helper, makes such reads: it can be killed.
 */
typedef int otelread_helper_work(struct otelread_target *target,
                                 const void *request, void *answer);

/*
 * Runs work in the helper, on a target of the helper's own, and copies the
 * answer. The first call starts the helper.
 * Returns what work returns, -ETIMEDOUT (no answer; target->silent is set, and
 * every later request for this target fails at once) or -errno.
 */
int otelread_helper_ask(struct otelread_target *target,
                        otelread_helper_work *work, const void *request,
                        size_t request_size, void *answer, size_t answer_size);

/* The helper's processor time; 0 when there is none. */
uint64_t otelread_helper_cpu_ns(void);

/* Ends the helper, if there is one. The next request starts another one. */
void otelread_helper_end(void);
