/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/run/doctor/checks.h"
#include "demo/run/doctor/elf.h"

#include <limits.h>
#include <sys/types.h>

/* A program, before or while it runs. */
struct otelrun_program {
    char path[PATH_MAX]; /* what execve(2) gets */
    char file[PATH_MAX]; /* what the kernel runs: the interpreter of scripts */
    bool is_readable;    /* elf says what the file is */
    struct otelrun_elf elf; /* of `file` */
};

/*
 * Finds a command as execvp(3) does, in the directories of `search_path` (NULL:
 * the usual ones).
 *
 * Returns 0, or -errno of the last try: -ENOENT, -EACCES ...
 */
int otelrun_program_find(const char *command, const char *search_path,
                         struct otelrun_program *out);

/* Follows a script to its interpreter, and reads the headers. Returns false if
 * the file is neither; the check says so. */
bool otelrun_program_read(struct otelrun_program *program, int root,
                          struct otelrun_checks *checks);

/* Will the dynamic linker preload anything into the program, and will the
 * program bear it? */
bool otelrun_program_check(const struct otelrun_program *program,
                           struct otelrun_checks *checks);

/* Does the dynamic linker find a library that it can load into the program, at
 * that path, for a process of that user? */
bool otelrun_library_check(const char *path, int root, uid_t user,
                           const struct otelrun_program *program,
                           struct otelrun_checks *checks);
