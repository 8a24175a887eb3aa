/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * OTELCTX_INSTANCE_ID: a random service.instance.id for a process to which the
 * user gave none.
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

/* Let otelctx_instance_id_make() make an id. */
void otelctx_instance_id_want(void);

/* Make the id, once, if it is wanted. Returns 0, or -errno of getrandom; then
 * there is no id. */
int otelctx_instance_id_make(void);

/* The id; empty when none was made. */
struct otelctx_span otelctx_instance_id(void);

/*
 * In a forked child: make a new id and put it into the exported variables, too.
 * Async-signal-safe.
 *
 * old  gets the text of the previous id
 *
 * Returns false when there was none; then nothing has changed.
 */
bool otelctx_instance_id_renew(char old[OTELCTX_INSTANCE_SIZE]);

/* Replace each occurrence of the old id in this memory by the current one.
 * Returns how many there were. */
unsigned otelctx_instance_id_replace(void *at, size_t size, const char *old);

/*
 * Put the id into OTEL_RESOURCE_ATTRIBUTES of this process's environment, so
 * that an SDK in the program reports the same id. Put it into a second variable
 * too, which tells programs executed later that the user did not set this id.
 *
 * attributes  the variable's value so far
 * inherited   the id in that value which the parent exported, to be replaced;
 *             or empty
 *
 * Returns 0, -E2BIG (the string would be too long for execve), -ENOSYS (there
 * is no environment to change) or -errno of mmap; then the environment is
 * unchanged.
 */
int otelctx_instance_id_export(struct otelctx_span attributes,
                               struct otelctx_span inherited);
bool otelctx_instance_id_is_exported(void);
