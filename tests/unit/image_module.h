/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TEST_IMAGE_MODULE_H
#define OTELCTX_TEST_IMAGE_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* A library with TLS of its own, and with shim/image.c in it. */
struct image_module {
    int (*set)(uint64_t word, size_t page_size); /* otelctx_image_set() */
    uint64_t (*get)(void); /* the word, of the calling thread */
};

/* Read-only once it was relocated, as the shim is; writable; and with more than
 * one word. */
extern const struct image_module image_relro, image_norelro, image_words;

#endif
