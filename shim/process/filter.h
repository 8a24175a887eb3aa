/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * Seccomp filters that are installed after the shim has started. They may kill
 * a process that makes the shim's system calls. Earlier filters have already
 * let the shim start.
 *
 * With no-new-privs a process may install filters by a raw system call, unseen.
 * Without no-new-privs or CAP_SYS_ADMIN it must set no-new-privs first, mostly
 * through libc's prctl.
 */

/* Ask for no-new-privs. Only the first call counts. */
void otelctx_filter_start(void);

/* Did the process start with no-new-privs? Then a filter may be there at any
 * time, and may kill whoever asks for it. */
bool otelctx_filter_may_come_unseen(void);

/* The host is about to set no-new-privs: ask for the mode while nobody kills
 * for that. */
void otelctx_filter_expect(void);

/* The host is calling prctl to install a filter. */
void otelctx_filter_note(void);

/* Was a filter installed? Not noticed past libc: a second one, and one that
 * CAP_SYS_ADMIN allows without no-new-privs. */
bool otelctx_filter_came(void);
