/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Text that is written before its size or its place is known. */
struct oteltop_buffer {
    FILE *out;
    char *data;  /* once it is closed: NUL-terminated; the caller frees it */
    size_t size; /* likewise, without the NUL */
};

/* Returns 0 or -ENOMEM; then there is nothing to close. */
int oteltop_buffer_open(struct oteltop_buffer *buffer);

/* Returns 0 or -ENOMEM; then data is NULL. */
int oteltop_buffer_close(struct oteltop_buffer *buffer);
