/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Overwrite the TLS initialisation image (PT_TLS) of the object that contains
 * this function. Each thread that is created later starts with a copy of the
 * image. The image must be one word; it is read-only after relocation
 * (PT_GNU_RELRO), and read-only again afterwards.
 *
 * Returns 0, -ENOEXEC (the image is not one word) or the error of mprotect. On
 * failure the image is unchanged.
 * Rule: ELF Handling for Thread-Local Storage, "Thread-Local Storage Section".
 */
int otelctx_tls_image_set(uint64_t word, size_t page_size);
