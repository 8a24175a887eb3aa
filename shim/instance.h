/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_INSTANCE_H
#define OTELCTX_INSTANCE_H

/*
 * OTELCTX_INSTANCE_ID: the service.instance.id that we give this process when
 * the user gave it none. It is random, so never the same twice.
 * Rule: OpenTelemetry semantic conventions, "Service", "service.instance.id".
 */

#include <stdbool.h>
#include <stddef.h>

#include "config/span.h"

#define OTELCTX_INSTANCE_KEY "service.instance.id"

/* A UUID as text, with a NUL: "0a29cd2e-5c81-4d5b-9d5c-2f7c2ab1b8a4". */
enum {
    OTELCTX_INSTANCE_SIZE = 37
};

/* There is to be one. */
void otelctx_instance_want(void);

/* Make the one that is wanted, once. Returns 0, also when none is wanted, or
 * what getrandom said; then there is none. */
int otelctx_instance_make(void);

/* Empty when none was made. */
struct otelctx_span otelctx_instance_id(void);

/*
 * In a child: make another one, also in what was exported; *old gets the text
 * of the last one. Async-signal-safe. False when there is none to renew.
 */
bool otelctx_instance_renew(char old[OTELCTX_INSTANCE_SIZE]);

/* Put the id in the place of the old one, wherever that is in this memory.
 * Returns how often. */
unsigned otelctx_instance_replace(void *at, size_t size, const char *old);

/*
 * Let the program, and what it starts, know the id: in the environment, behind
 * the other attributes, which are `attributes`. An id that the parent exported
 * is `inherited`, else empty.
 *
 * Returns 0, -E2BIG (it would be too long for execve), -ENOSYS (no environment
 * to change) or what mmap said; then nothing has changed.
 */
int otelctx_instance_export(struct otelctx_span attributes,
                            struct otelctx_span inherited);
bool otelctx_instance_is_exported(void);

#endif
