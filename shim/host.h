/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_HOST_H
#define OTELCTX_HOST_H

/*
 * What the process that we live in gives us. host.c holds every symbol that
 * the shim imports. All are weak: a Go program without libc has none of them.
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

/* A value of the auxiliary vector (AT_PAGESZ ...), 0 when it is not known. */
unsigned long otelctx_host_auxiliary(unsigned long type);

/* With elevated privileges the environment is somebody else's. */
bool otelctx_host_is_secure(void);

/* The base name of the executable as execve(2) had it; empty when unknown. */
struct otelctx_span otelctx_host_executable(void);

/* Where the calling thread has its errno. */
int *otelctx_host_errno(void);

#endif
