/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/list.h"
#include "shim/wire/thread.h"

#include <stddef.h>

/*
 * What a process context announces about the contexts of its threads. The
 * spans point into the context's payload.
 */
struct otelread_keymap {
    struct otelread_span schema;                 /* bytes NULL: absent */
    struct otelread_span keys[OTELCTX_KEYS_MAX]; /* bytes NULL: no string */
    size_t count;
};

/*
 * Reads the key map from the extra attributes; of equal keys the last counts.
 *
 * Returns 0, -ENOENT (not announced yet), -EPROTONOSUPPORT (an unknown schema)
 * or -EBADMSG (announced with the wrong type); on failure, why is a sentence
 * about it, and *out has what could be read.
 * Rule: OTEP 4947, "Process Context: Thread-Local Reference Data".
 */
int otelread_keymap_read(const struct otelread_list *extra,
                         struct otelread_keymap *out, char *why,
                         size_t why_size);
