/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_IMAGE_H
#define OTELCTX_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Change what the TLS of every thread that is yet to come begins with: the
 * initialisation image (PT_TLS) of this very object, which must be one word and
 * is read-only once it was relocated (PT_GNU_RELRO).
 *
 * Returns 0, -ENOEXEC (another image) or what mprotect said; then nothing has
 * changed.
 * Rule: ELF Handling for Thread-Local Storage, "Thread-Local Storage Section".
 */
int otelctx_image_set(uint64_t word, size_t page_size);

#endif
