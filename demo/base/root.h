/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Opens a regular file for reading, as a program with that root directory finds
 * it. Whatever another program names is opened by this function: to open
 * anything but a regular file can have an effect (a FIFO's writer goes on, a
 * watchdog starts).
 *
 * root  AT_FDCWD for that of this process, or a descriptor of /proc/PID/root:
 *       then symbolic links and ".." do not leave it, and no link of /proc that
 *       stands for an open file is followed
 *
 * Returns a descriptor, -EINVAL (no regular file) or another -errno. Waits for
 * nobody.
 */
int otelbase_root_open(int root, const char *path);

/* Reads such a file from its start, at most size bytes. Returns how many, or
 * -errno. */
long otelbase_root_read(int root, const char *path, char *out, size_t size);

/* What such an -errno says of the file. */
const char *otelbase_root_message(int error);
