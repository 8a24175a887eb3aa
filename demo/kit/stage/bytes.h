/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Protocol buffers, written byte by byte, so that any of them may be wrong.
 * What does not fit is dropped: the sizes of scenes are constants.
 */

#include <stddef.h>
#include <stdint.h>

#define OTELKIT_BYTES_MAX (512 << 10)

struct otelkit_bytes {
    uint8_t at[OTELKIT_BYTES_MAX];
    size_t size;
};

/* Fields of the messages in process_context.proto, resource.proto and
 * common.proto. */
enum {
    OTELKIT_CONTEXT_RESOURCE = 1,
    OTELKIT_CONTEXT_EXTRA = 2,
    OTELKIT_RESOURCE_ATTRIBUTES = 1,
    OTELKIT_PAIR_KEY = 1,
    OTELKIT_PAIR_VALUE = 2,
    OTELKIT_VALUE_STRING = 1,
    OTELKIT_VALUE_ARRAY = 5,
    OTELKIT_ARRAY_VALUES = 1,
};

void otelkit_put(struct otelkit_bytes *bytes, const void *data, size_t size);
void otelkit_varint(struct otelkit_bytes *bytes, uint64_t value);

/* A field with a length: open returns the argument of close. */
size_t otelkit_open(struct otelkit_bytes *bytes, unsigned field);
void otelkit_close(struct otelkit_bytes *bytes, size_t opened);

void otelkit_string(struct otelkit_bytes *bytes, unsigned field,
                    const char *text);

/* A KeyValue with a string, as that field of the message around it. */
void otelkit_pair(struct otelkit_bytes *bytes, unsigned field, const char *key,
                  const char *value);

/* A ProcessContext whose resource has the service name alone. */
void otelkit_service(struct otelkit_bytes *bytes, const char *name);
