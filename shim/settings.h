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
};

/*
 * Read all of it and report on stderr what is wrong. Makes no system call in a
 * process whose environment disables the shim.
 *
 * Returns 0, or -ENOSYS when it disables the shim; then nothing is reported.
 */
int otelctx_settings_open(struct otelctx_settings *s);
void otelctx_settings_close(struct otelctx_settings *s);

/* Report a fault in the text of one option. */
void otelctx_settings_fault(const struct otelctx_settings *s,
                            enum otelctx_option_id id,
                            const struct otelctx_fault *fault);

#endif
