/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/maps.h"

/*
 * Queries the mappings of files (memfds are files) without reading the text of
 * all mappings: of a hundred thousand mappings, few are of files.
 */

/*
 * Whether only mappings of files can have the name of a context: false where
 * the kernel lets programs name anonymous mappings.
 */
bool otelread_query_suffices(void);

/*
 * The next mapping whose name begins as a context's does, at or above *at,
 * which becomes its end. fd is open on /proc/PID/maps.
 *
 * Returns 1, 0 at the end, or -errno; -ENOTTY before Linux 6.11.
 * Rule: Documentation/filesystems/proc.rst, PROCMAP_QUERY.
 */
int otelread_query_next(int fd, uint64_t *at, struct otelread_mapping *mapping);

/*
 * Whether the process itself may read all of these bytes: 1, 0 or -errno (the
 * kernel does not answer).
 */
int otelread_query_is_readable(int fd, uint64_t address, uint64_t size);
