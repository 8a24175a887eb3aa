/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The process contexts of the calling process, found as a reader finds them.
 * This header shares no code with the shim, and works in a forked child. */

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shim/wire/process.h"

/* OTEP 4719, "Reading Protocol": a name, a signature and a timestamp. */
static inline const struct otelctx_header *own_context_in(const char *line)
{
    const struct otelctx_header *header;
    unsigned long at;

    if (!strstr(line, "/memfd:" OTELCTX_MAPPING_NAME " ") &&
        !strstr(line, "[anon:" OTELCTX_MAPPING_NAME "]"))
        return NULL;
    if (sscanf(line, "%lx-", &at) != 1)
        return NULL;
    header = (const void *)at;
    return memcmp(header->signature, OTELCTX_SIGNATURE,
                  OTELCTX_SIGNATURE_SIZE) == 0 &&
                   header->published_at_ns != 0
               ? header
               : NULL;
}

/* Returns the number of contexts; *last is one of them. */
static inline unsigned own_contexts(const struct otelctx_header **last)
{
    static char text[1 << 18];
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    unsigned count = 0;
    char *rest = text, *line;
    ssize_t got;

    while (used < sizeof(text) - 1 &&
           (got = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    (void)close(fd);
    while ((line = strsep(&rest, "\n"))) {
        const struct otelctx_header *const header = own_context_in(line);

        if (header) {
            *last = header;
            count++;
        }
    }
    return count;
}

/* The only context; NULL if there is none, or more than one. */
static inline const struct otelctx_header *own_context(void)
{
    const struct otelctx_header *last = NULL;

    return own_contexts(&last) == 1 ? last : NULL;
}

static inline bool own_context_holds(const char *bytes, size_t size)
{
    const struct otelctx_header *const header = own_context();

    return header && memmem((const void *)(uintptr_t)header->payload,
                            header->payload_size, bytes, size);
}

/* Does the context have an attribute with this string, in the resource or
 * beside it? Each text is shorter than 100 bytes. KeyValue { key = 1, value = 2
 * { string_value = 1 } } */
static inline bool own_context_has(const char *key, const char *value)
{
    char bytes[256];
    const int size =
        snprintf(bytes, sizeof(bytes), "\n%c%s\x12%c\n%c%s", (int)strlen(key),
                 key, (int)strlen(value) + 2, (int)strlen(value), value);

    return own_context_holds(bytes, (size_t)size);
}

/* Does the context's key map have this key? AnyValue { string_value = 1 } in an
 * ArrayValue { values = 1 } */
static inline bool own_context_has_key(const char *name)
{
    char bytes[256];
    const int size = snprintf(bytes, sizeof(bytes), "\n%c\n%c%s",
                              (int)strlen(name) + 2, (int)strlen(name), name);

    return own_context_holds(bytes, (size_t)size);
}
