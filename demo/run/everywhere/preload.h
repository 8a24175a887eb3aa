/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define OTELRUN_PRELOAD_MAX 65536u

/* The text of /etc/ld.so.preload. Its entries are separated by white space or
 * colons; '#' begins a comment, as glibc has it. */
struct otelrun_preload {
    size_t size;
    char text[OTELRUN_PRELOAD_MAX];
};

/* Takes the entries for libotelctx_preload.so out, whatever their directory.
 * Only a line with nothing else goes with its entry. Returns how many. */
unsigned otelrun_preload_remove(struct otelrun_preload *p);

/* Adds a line with that path at the end. Returns false without room for it. */
bool otelrun_preload_add(struct otelrun_preload *p, const char *path);

/* Is that path the one entry for libotelctx_preload.so? */
bool otelrun_preload_names(const struct otelrun_preload *p, const char *path);
