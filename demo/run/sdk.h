/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/run/environment.h"

/* The bridges of demo/sdk/ that variables load. */
enum otelrun_runtime {
    OTELRUN_RUNTIME_PYTHON,
    OTELRUN_RUNTIME_NODE,
    OTELRUN_RUNTIME_JAVA,
    OTELRUN_RUNTIME_COUNT
};

/* Adds a bit for each runtime in "python,node"; "all" stands for every one.
 * Returns what was expected instead, or NULL. */
const char *otelrun_sdk_parse(const char *names, unsigned *runtimes);

/* The directory of the bridges: the one given, if any, or sdk/ beside this
 * program, or ../share/otelctx/sdk. It need not be there. */
const char *otelrun_sdk_directory(const char *given);

/* Why a bridge is not loaded, and what to do. */
struct otelrun_sdk_fault {
    const char *found; /* NULL: it is loaded */
    const char *advice;
};

/* Sets the variables that load the bridge of one runtime, and keeps what they
 * hold. */
struct otelrun_sdk_fault otelrun_sdk_apply(struct otelrun_environment *e,
                                           enum otelrun_runtime runtime,
                                           const char *directory);

/* "python" and so on. */
const char *otelrun_sdk_name(enum otelrun_runtime runtime);
