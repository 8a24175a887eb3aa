/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_RIVAL_H
#define OTELCTX_PROCESS_RIVAL_H

#include <stdbool.h>

/*
 * Somebody else in this process who publishes a process context, too: an SDK,
 * or another copy of the shim. Readers want one context a process, and an SDK
 * knows more. So the shim yields to a context that a reader would take, and
 * comes back when that one is gone.
 *
 * Who publishes through libc's prctl is seen at once. Who does not is in
 * /proc/self/maps, which takes long to read and a descriptor: it is read in a
 * small part of the time, and never because of a fork.
 */

/* When to ask whether there is one. */
enum otelctx_rival_occasion {
    OTELCTX_RIVAL_AT_START,
    OTELCTX_RIVAL_AT_CALL,  /* of the program's, for the process context */
    OTELCTX_RIVAL_AT_WATCH, /* once, a second after the start */
    OTELCTX_RIVAL_AT_LEAVE, /* of any call: only whom prctl has seen */
    OTELCTX_RIVAL_IF_GONE,  /* only whether the one that counts is gone */
    OTELCTX_RIVAL_UNNAMED,  /* the kernel did not name its mapping */
};

/*
 * yields         OTELCTX_ON_OTHER_PUBLISHER
 * prctl_is_seen  the host's calls of prctl come to us: nobody can have
 *                published through libc unseen before we start
 */
void otelctx_rival_start(bool yields, bool prctl_is_seen);

/* The host is about to name a mapping at `at` as a process context. Returns
 * whether a reader would take it. Asks for no lock. */
bool otelctx_rival_note(const void *at);

/* From here on: only between enter and leave. */

/* Yield, or come back. */
void otelctx_rival_check(enum otelctx_rival_occasion occasion);

/* The last thing before the lock is given back: yield to whom prctl has seen
 * meanwhile, and say at OTELCTX_LOG_INFO what has become of the context. */
void otelctx_rival_leave(void);

#endif
