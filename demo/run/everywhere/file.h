/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/run/everywhere/preload.h"

#include <limits.h>
#include <sys/stat.h>

enum otelrun_draft {
    OTELRUN_DRAFT_WITHOUT, /* the library, for the trial */
    OTELRUN_DRAFT_NEW,     /* what is to replace the file */
    OTELRUN_DRAFT_COUNT
};

/* /etc/ld.so.preload, and files beside it. */
struct otelrun_file {
    char path[PATH_MAX];               /* without symbolic links */
    char *drafts[OTELRUN_DRAFT_COUNT]; /* their paths; NULL: not made */
    bool exists;
    bool is_placed; /* it is an empty one of ours */
    struct stat about;
    struct otelrun_preload old;
};

/* Each returns 0 or -errno. */

/* A file that does not exist reads as an empty one; -ENOLINK: a symbolic link
 * leads to none. */
int otelrun_file_open(struct otelrun_file *file, const char *path);

/* Makes an empty file where there is none: a mount needs one, and to the
 * dynamic linker an empty file is none. */
int otelrun_file_place(struct otelrun_file *file);

/* Writes a draft, with the mode and the owner of the file. */
int otelrun_file_draft(struct otelrun_file *file, enum otelrun_draft which,
                       const struct otelrun_preload *text);

/* Renames the new draft; -ESTALE if the file has changed since it was opened.
 */
int otelrun_file_replace(struct otelrun_file *file);

/* Removes the file, as otelrun_file_replace() would replace it. */
int otelrun_file_remove(struct otelrun_file *file);

/* Removes what was made and did not become the file. */
void otelrun_file_abandon(struct otelrun_file *file);
