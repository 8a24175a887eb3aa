/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/maps.h"
#include "demo/reader/os/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies exactly size bytes: pages that are resident directly, all others by
 * the helper (helper.h). Returns 0, -EFAULT (not all of it is readable),
 * -ESRCH, -EACCES, -EPERM, -ETIMEDOUT (the memory does not answer) or, with
 * only_resident, -EAGAIN; out is unspecified then.
 */
int otelread_memory_read(struct otelread_target *target, uint64_t address,
                         void *out, size_t size);

/* The same, of an address in this mapping: in_memory makes it faster. */
int otelread_memory_read_mapping(struct otelread_target *target,
                                 const struct otelread_mapping *mapping,
                                 uint64_t address, void *out, size_t size);

/*
 * The same, but -EFAULT for memory that its own process may not read. Like
 * debuggers, otelread_memory_read() may ignore that protection.
 */
int otelread_memory_read_unprotected(struct otelread_target *target,
                                     uint64_t address, void *out, size_t size);

/*
 * Copies these bytes if all of them are resident, else makes no other attempt.
 * Returns 0 or -errno.
 */
int otelread_memory_peek(struct otelread_target *target, uint64_t address,
                         void *out, size_t size);

/*
 * Opens the files for reads with only_resident. Call it before a thread is
 * stopped: opening may block.
 */
void otelread_memory_prepare(struct otelread_target *target);

/*
 * Makes the read that is missing, so that the page is resident next time.
 * When it fails, the same read fails next time, too.
 */
void otelread_memory_fetch(struct otelread_target *target);

/* Whether the memory that was read is gone, by an exec or an exit. */
bool otelread_memory_is_gone(const struct otelread_target *target);
