/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The programs and libraries of program/, embedded in this file. */

#include "demo/kit/stage/stage.h"

struct otelkit_file {
    const char *name; /* "glibc/plain" */
    const unsigned char *start, *end;
};

/* Made by the script `embed`; the last has no name. */
extern const struct otelkit_file otelkit_files[];

/* Writes the scene's program and libraries to a new folder. Returns 0 or
 * -errno, with publisher->message set. */
int otelkit_programs_write(const struct otelkit_scene *scene,
                           struct otelctx_kit_publisher *publisher);

/* Executes the program, which writes its line to that descriptor. Returns
 * -errno. */
int otelkit_programs_execute(const struct otelkit_scene *scene,
                             const char *folder, int line);

/* Removes the folder, if there is one. */
void otelkit_programs_remove(struct otelctx_kit_publisher *publisher);
