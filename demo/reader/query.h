/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_QUERY_H
#define OTELREAD_QUERY_H

#include "demo/reader/maps.h"

/*
 * The mappings of files, which memfds are among, without the text of all the
 * others: a process with a hundred thousand mappings has few of files.
 */

/* Are the mappings of files all that can have a context's name? Not where the
 * kernel lets programs name anonymous ones. */
bool otelread_query_suffices(void);

/*
 * The next mapping whose name begins as a process context's does, at or above
 * *at, which moves on behind it. `fd` is that of /proc/PID/maps.
 *
 * Returns 1, 0 at the end, or -errno; -ENOTTY before Linux 6.11.
 * Rule: Documentation/filesystems/proc.rst, PROCMAP_QUERY.
 */
int otelread_query_next(int fd, uint64_t *at, struct otelread_mapping *mapping);

#endif
