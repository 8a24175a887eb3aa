/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_KEYMAP_H
#define OTELREAD_KEYMAP_H

#include "demo/reader/decode.h"
#include "shim/wire.h"

#include <stddef.h>

/*
 * What a process context announces about the contexts of its threads. It
 * points into the context's payload.
 */
struct otelread_keymap {
    struct otelread_span schema;                 /* bytes NULL: not said */
    struct otelread_span keys[OTELCTX_KEYS_MAX]; /* bytes NULL: no string */
    size_t count;
};

/*
 * Reads it from the extra attributes; of equal keys the last counts.
 *
 * Returns 0, -ENOENT (not announced yet), -EPROTONOSUPPORT (a schema that is
 * not read here) or -EBADMSG (announced, but of another type than it must
 * be); when it fails, why is a sentence, and *out has what could be read.
 * Rule: OTEP 4947, "Process Context: Thread-Local Reference Data".
 */
int otelread_keymap_read(const struct otelread_list *extra,
                         struct otelread_keymap *out, char *why,
                         size_t why_size);

#endif
