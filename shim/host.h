/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_HOST_H
#define OTELCTX_HOST_H

/*
 * What the process that we live in gives us. host.c holds every symbol that
 * the shim imports. All are weak: a Go program without libc has none of them.
 * None of this changes errno, and nothing else of the shim knows it but prctl.
 */

#include <stdbool.h>
#include <stddef.h>

#include "config/span.h"

/* The environment: as libc has it, else what matters of the kernel's copy. */
struct otelctx_environment {
    char *const *strings; /* ends in NULL */
    void *copy;           /* ours, when libc has none */
};

/* False when there is none to be had, whole; to be closed all the same. */
bool otelctx_environment_open(struct otelctx_environment *out);
void otelctx_environment_close(struct otelctx_environment *environment);

/*
 * Put "NAME=value" strings into the environment of this process, each in the
 * place of whatever had its name. They must stay.
 *
 * Returns 0, -ENOSYS (libc has no environment) or what mmap said.
 */
int otelctx_host_set_variables(char *const *strings, size_t count);

/* A value of the auxiliary vector (AT_PAGESZ ...), 0 when it is not known. */
unsigned long otelctx_host_auxiliary(unsigned long type);

/* With elevated privileges the environment is somebody else's. */
bool otelctx_host_is_secure(void);

/* Is there a libc, whose threads have TLS of ours? A Go program without one
 * makes threads of another kind. */
bool otelctx_host_has_libc(void);

/* The base name of the executable as execve(2) had it; empty when unknown. */
struct otelctx_span otelctx_host_executable(void);

/* Where the calling thread has its errno. */
int *otelctx_host_errno(void);

/* Have these called around every fork(2) of libc's. Returns 0 or an errno. */
int otelctx_host_at_fork(void (*prepare)(void), void (*parent)(void),
                         void (*child)(void));

/* What this name would be if the shim did not define it; or NULL. */
void *otelctx_host_next(const char *name);

#endif
