/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_SETTINGS_H
#define OTELCTX_SETTINGS_H

#include "config/options.h"
#include "shim/host.h"

/*
 * What the user wrote, in the environment and in the configuration file. Each
 * option is taken whole from the first place that has it. All texts are
 * borrowed until otelctx_settings_close().
 */
struct otelctx_settings {
    struct otelctx_options options;
    struct otelctx_setting source[OTELCTX_OPTION_COUNT];
    struct otelctx_environment environment;
    char path[256]; /* of the file, cut, for messages */
    char *file;     /* OTELCTX_FILE_MAX + 1 bytes, NULL without a file */
    size_t file_size;
    int file_err; /* 0 or -errno: why it could not be read */
};

/*
 * Read all of it and, if aloud, report on stderr what is wrong; if not, nothing
 * is reported from here on. Makes no system call in a process whose environment
 * disables the shim.
 *
 * Returns 0, or -ENOSYS when this process is disabled or excluded, or when its
 * environment or auxiliary vector is not to be had; then no fault is reported.
 * To be closed either way.
 */
int otelctx_settings_open(struct otelctx_settings *s, bool aloud);
void otelctx_settings_close(struct otelctx_settings *s);

/* Report a fault in the text of one option. */
void otelctx_settings_fault(const struct otelctx_settings *s,
                            enum otelctx_option_id id,
                            const struct otelctx_fault *fault);

#endif
