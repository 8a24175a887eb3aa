/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/options.h"
#include "shim/base/host.h"

/* Does a mistake discard its option or line, or does that count anyway? */
enum otelctx_weight {
    OTELCTX_DISCARDED,
    OTELCTX_COUNTS
};

/* Something wrong in what the user wrote. */
struct otelctx_mistake {
    struct otelctx_fault fault;
    struct otelctx_span text;  /* that the position is in */
    uint32_t line;             /* of the configuration file; 0: not from it */
    enum otelctx_option_id id; /* OTELCTX_OPTION_COUNT: a line without one */
    enum otelctx_weight weight;
    uint32_t others; /* of a list, which are only counted */
};

/* Of more mistakes, as in a file of another format, the first are reported. */
enum {
    OTELCTX_MISTAKES_MAX = 10
};

/*
 * What the user wrote, in the environment and in the configuration file. Each
 * option is taken whole from the first place that has it. All texts are
 * borrowed until otelctx_settings_close().
 */
struct otelctx_settings {
    struct otelctx_options options;
    struct otelctx_setting source[OTELCTX_SETTINGS_COUNT];
    struct otelctx_environment environment;
    char *file; /* OTELCTX_FILE_MAX + 1 bytes, NULL without a file */
    size_t file_size;
    int file_err; /* 0 or -errno: why it could not be read */
    unsigned mistakes_count;
    struct otelctx_mistake mistakes[OTELCTX_MISTAKES_MAX + 1];
};

/*
 * Read all settings and, if aloud, report mistakes on stderr; if not, turn the
 * log off. Makes no system call in a process whose environment disables the
 * shim.
 *
 * Returns 0, or -ENOSYS when this process is disabled or excluded, or when its
 * environment or auxiliary vector cannot be read. Then it reports the reason,
 * at OTELCTX_LOG_DEBUG, and of all mistakes only patterns that match nothing.
 * Call otelctx_settings_close() in either case.
 */
int otelctx_settings_open(struct otelctx_settings *s, bool aloud);
void otelctx_settings_close(struct otelctx_settings *s);

/* Report what is wrong with the text of one option. */
void otelctx_settings_fault(const struct otelctx_settings *s,
                            enum otelctx_option_id id,
                            enum otelctx_weight weight, size_t pos,
                            const char *why);

/* Add one to the mistakes of a list, all zero at first: the first in the text
 * of the worst ones is kept, for a list may have thousands. Begin with the last
 * one. */
void otelctx_settings_collect(struct otelctx_mistake *list,
                              enum otelctx_weight weight, size_t pos,
                              const char *why);

/* Report them in one line, if there are any. */
void otelctx_settings_report(const struct otelctx_settings *s,
                             enum otelctx_option_id id,
                             struct otelctx_mistake *list);
