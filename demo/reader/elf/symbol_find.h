/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/symbol.h"
#include "demo/reader/os/target.h"

#include <stddef.h>
#include <stdint.h>

/* A variable to be found, and the result. */
struct otelread_variable {
    const char *name;
    uint64_t size; /* bytes */
    int error;     /* 0: symbol is where it is */
    struct otelread_symbol symbol;
    char why[384]; /* a sentence about the error */
};

/*
 * Finds variables in a process whose threads may be running. Their errors: 0,
 * -ENOENT (no object defines it), -EAGAIN (defined, but not bound yet: no code
 * has used it, so nothing is attached), -ENOTSUP, -E2BIG (too much to read),
 * -ENOMEM, or -errno of the process's files.
 * Rule: OTEP 4947, "Reading Protocol", step 1.2.
 */
void otelread_variables_find(struct otelread_target *target,
                             struct otelread_variable *variables, size_t count);
