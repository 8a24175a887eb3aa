/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the host, the process that the shim is loaded into, provides. host.c
 * contains every symbol that the shim imports. All are weak: a Go program
 * without libc has none of them. These functions leave errno as it was; of the
 * rest of the shim only start/prctl.c touches errno.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/span.h"

/* The environment of libc; without libc, the variables in /proc/self/environ
 * that concern the shim. */
struct otelctx_environment {
    char *const *strings; /* ends in NULL */
    void *copy;           /* memory to unmap; NULL if the strings are libc's */
};

/* Returns false if the environment cannot be read completely. Call
 * otelctx_environment_close() in either case. */
bool otelctx_environment_open(struct otelctx_environment *out);
void otelctx_environment_close(struct otelctx_environment *environment);

/*
 * Set variables in the environment of this process; each replaces the variable
 * of the same name. One with an empty value is removed.
 *
 * strings  "NAME=value"; must stay in memory
 *
 * Returns 0, -ENOSYS (no environment of libc) or the error of mmap.
 */
int otelctx_host_set_variables(char *const *strings, size_t count);

/* A value of the auxiliary vector (AT_PAGESZ ...), 0 if unknown. */
unsigned long otelctx_host_auxiliary(unsigned long type);

/* AT_SECURE: does the process have more privileges than the user who started
 * it, and who wrote the environment? */
bool otelctx_host_is_secure(void);

/* Is there a libc, which gives each thread the shim's TLS? A Go program without
 * libc creates threads that have none. */
bool otelctx_host_has_libc(void);

/* Is any library loaded except the shim and those of a libc or a compiler,
 * which open no file in their constructors? */
bool otelctx_host_has_other_libraries(void);

/* Is the shim in the link-map namespace of the executable? dlmopen(3) makes
 * others, with a libc and a prctl() of their own. */
bool otelctx_host_is_beside_executable(void);

/* The base name of the path given to execve(2); empty if unknown. */
struct otelctx_span otelctx_host_executable(void);

/* The address of the calling thread's errno. */
int *otelctx_host_errno(void);

/* Register handlers that libc's fork(2) calls. Returns 0 or a positive errno.
 */
int otelctx_host_at_fork(void (*prepare)(void), void (*parent)(void),
                         void (*child)(void));

/*
 * Have `leave` called with `value`, not 0, when a thread ends: once for the
 * process, then in each such thread. Called again by `leave`: in the next round
 * of destructors.
 *
 * otelctx_host_watch_threads() does nothing where libc has no threads, or where
 * the program has used up the keys that need no memory; then
 * otelctx_host_at_thread_exit() does nothing either.
 */
void otelctx_host_watch_threads(void (*leave)(void *value));
void otelctx_host_at_thread_exit(uintptr_t value);

/* The next definition of a symbol after the shim's own, or NULL. */
void *otelctx_host_next_symbol(const char *name);
