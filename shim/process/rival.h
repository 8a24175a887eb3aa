/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * A rival is another publisher in this process: an SDK, or another copy of the
 * shim. Readers want one context per process, and an SDK knows more. So the
 * shim withdraws its context for one that a reader would take, and publishes
 * its own again when the rival's is gone.
 *
 * The shim sees at once a rival that calls libc's prctl. Any other is in
 * /proc/self/maps only. Reading that file takes a descriptor and much time, so
 * the shim reads it rarely, and never because of a fork.
 */

/* When the shim asks whether there is a rival. */
enum otelctx_rival_occasion {
    OTELCTX_RIVAL_AT_START,
    OTELCTX_RIVAL_AT_CALL,  /* the program calls for the process context */
    OTELCTX_RIVAL_AT_WATCH, /* once, a second after the start */
    OTELCTX_RIVAL_AT_LEAVE, /* the end of any call: looks at prctl's only */
    OTELCTX_RIVAL_IF_GONE,  /* asks only whether the rival is gone */
    OTELCTX_RIVAL_UNNAMED,  /* the kernel refused to name its mapping */
};

/*
 * yields         OTELCTX_ON_OTHER_PUBLISHER
 * prctl_is_seen  the host calls the shim's prctl, so that no rival can have
 *                published through libc unseen before the shim started
 */
void otelctx_rival_start(bool yields, bool prctl_is_seen);

/* The host is about to name the mapping at `at` as a process context. Returns
 * whether a reader would take that mapping. Takes no lock. */
bool otelctx_rival_note(const void *at);

/* Call the rest between otelctx_guard_enter() and _leave() only. */

/* Yield to a rival, or publish again because it is gone. */
void otelctx_rival_check(enum otelctx_rival_occasion occasion);

/* Call before the lock is released: yields to a rival that prctl has seen
 * meanwhile, and logs at OTELCTX_LOG_INFO a change of who publishes. */
void otelctx_rival_leave(void);
