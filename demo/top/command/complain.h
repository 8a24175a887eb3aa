/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/* Each writes a line to standard error, and returns the exit status 1. */

/* what: a path, or what cannot be done; error: an errno. */
int oteltop_complain(const char *what, int error);

/* place: line and byte in the file. */
int oteltop_complain_place(const char *path, const char *place,
                           const char *why);

/* The output would overwrite the recording that is to be replayed. */
int oteltop_complain_input(const char *path);

/*
 * Closes a file that was written. Returns 0, or complains if not all of it
 * could be written.
 */
int oteltop_close(FILE *out, const char *path);
