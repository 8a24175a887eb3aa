/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * Names the library in /etc/ld.so.preload, for all programs of the machine,
 * after a trial with programs of the machine.
 *
 * library  its path, or NULL if it was not found
 * command  one more program for the trial; NULL last, often the only one
 *
 * Prints what was done, or why it was not. Returns false if it was not.
 */
bool otelrun_everywhere_install(const char *library, char **command);

/* Takes libotelctx_preload.so out of /etc/ld.so.preload. */
bool otelrun_everywhere_remove(void);
