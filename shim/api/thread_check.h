/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The checks of arguments that thread.c and thread_slow.c share. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/thread/record.h"

/* The ids and flags in one struct, unchecked. */
struct otelctx_ids otelctx_ids_from(const uint8_t trace_id[16],
                                    const uint8_t span_id[8], uint8_t flags);

/* Store the 8 bytes in network order of a number. */
static inline void otelctx_store_number(uint8_t *at, uint64_t number)
{
    number = __builtin_bswap64(number);
    __builtin_memcpy(at, &number, sizeof(number));
}

/* Do readers know the key? Returns 0, -EINVAL, -EOPNOTSUPP (TLS, where the
 * attributes are, is off), or -ESTALE if the shim has
 * yielded to another publisher of a process context: readers then use the key
 * map of that publisher. */
int otelctx_key_check(uint8_t key);

/* Check the key and cut the value. Returns 0, 1 (the value was cut) or -errno.
 */
int otelctx_attr_check(uint8_t key, struct otelctx_span *value);

/*
 * Append attributes to a record that readers do not see.
 *
 * Returns 0, 1 (a value was cut, or attributes were left out because readers do
 * not know the shim's keys), -EINVAL or -ENOSPC.
 */
int otelctx_record_fill(struct otelctx_record *record,
                        const struct otelctx_attribute *attributes,
                        size_t count);

/* Is the record at an even address? OTEP 4947, "Thread-Local Context Record":
 * "aligned to at least a 2-byte boundary". */
bool otelctx_record_is_aligned(const struct otelctx_record *record);
