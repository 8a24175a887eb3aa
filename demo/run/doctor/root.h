/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_ROOT_H
#define OTELRUN_ROOT_H

#include <stddef.h>

/* The root directory that a program has: this process's own (AT_FDCWD), or the
 * descriptor of /proc/PID/root. */

/*
 * Opens a file for reading as a program with that root would find it: symbolic
 * links and ".." do not leave the root (before Linux 5.6 they do).
 *
 * Returns a descriptor, or -errno.
 */
int otelrun_root_open(int root, const char *path);

/* Reads the file from its start, at most size bytes. Returns how many, or
 * -errno. A file that is not regular is refused with -EINVAL. */
long otelrun_root_read(int root, const char *path, char *out, size_t size);

#endif
