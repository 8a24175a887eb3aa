/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "demo/run/status.h"

static void give_up(void)
{
    perror("otelctx-run");
    exit(OTELRUN_FAILURE);
}

void *otelrun_allocate(size_t count, size_t size)
{
    void *const memory = calloc(count, size);

    if (!memory)
        give_up();
    return memory;
}

char *otelrun_format(const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    int size;

    va_start(arguments, format);
    size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        give_up();
    return text;
}
