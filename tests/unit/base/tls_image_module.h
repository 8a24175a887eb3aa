/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A library that contains shim/base/tls_image.c and has TLS of its own. */
struct image_module {
    int (*set)(uint64_t word, size_t page_size); /* otelctx_tls_image_set() */
    uint64_t (*get)(void);                       /* the calling thread's word */
};

/* relro: the image is read-only after relocation, as in the shim; norelro: it
 * is writable; words: it has more than one word. */
extern const struct image_module image_relro, image_norelro, image_words;
