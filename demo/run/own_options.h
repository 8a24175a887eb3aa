/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct otelrun_environment;

/* What the command line asks for, beside variables of the command. */
struct otelrun_options {
    bool help, version;
    bool check, json, strict, quiet;
    bool install_everywhere, remove_everywhere;
    bool requests;
    const char *print;    /* the form, or NULL */
    const char *library;  /* its path, or NULL */
    const char *detect;   /* the detectors, or NULL */
    const char *copy_to;  /* a directory, or NULL */
    const char *sdk_path; /* the directory of the bridges, or NULL */
    unsigned sdk;         /* a bit for each of enum otelrun_runtime */
    char **command;       /* and its arguments; NULL last */
};

/* What the handlers of options change. */
struct otelrun_target {
    struct otelrun_options *options;
    struct otelrun_environment *e;
};

/* Does an option take a value? */
enum otelrun_argument {
    OTELRUN_NONE,
    OTELRUN_OPTIONAL, /* --option=value only */
    OTELRUN_NEEDED    /* --option value, or --option=value */
};

/* An option that is no variable of config/options.c, or more than one. */
struct otelrun_own_option {
    const char *name;
    enum otelrun_argument argument;
    const char *shows; /* the argument, in the usage */
    const char *help;
    /* Returns what was expected instead of the value, or NULL. */
    const char *(*take)(const struct otelrun_target *to, const char *value);
    size_t flag, text; /* where the value goes, plus 1; 0: nowhere */
};

/* The last one has no name. */
extern const struct otelrun_own_option otelrun_own_options[];
