/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void otelbase_message_set(char *message, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, size, format, arguments);
    va_end(arguments);
}

void otelbase_message_add(char *message, size_t size, const char *format, ...)
{
    size_t used = strlen(message);
    va_list arguments;

    if (used > 0)
        used += (size_t)snprintf(message + used, size - used, "; ");
    if (used >= size)
        return;
    va_start(arguments, format);
    (void)vsnprintf(message + used, size - used, format, arguments);
    va_end(arguments);
}
