/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/buffer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int oteltop_buffer_open(struct oteltop_buffer *buffer)
{
    *buffer = (struct oteltop_buffer){.size = 0};
    buffer->out = open_memstream(&buffer->data, &buffer->size);
    return buffer->out ? 0 : -ENOMEM;
}

int oteltop_buffer_close(struct oteltop_buffer *buffer)
{
    const bool is_cut = ferror(buffer->out) != 0;

    if (fclose(buffer->out) == 0 && !is_cut)
        return 0;
    free(buffer->data);
    buffer->data = NULL;
    return -ENOMEM;
}
