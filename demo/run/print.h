/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/run/environment.h"

#include <stdio.h>

/*
 * Prints the variables that `after` has and `before` has not, or has otherwise,
 * and those that it lost.
 *
 * form  "shell": for a shell to read; "unit": lines of a systemd unit; "env":
 *       NAME=value, as `podman --env-file` reads it
 *
 * Returns NULL, or why it printed nothing: that is none of the forms, or a
 * value has a control character, whose effect depends on who reads what is
 * printed.
 */
const char *otelrun_print(FILE *out, const char *form,
                          const struct otelrun_environment *before,
                          const struct otelrun_environment *after);
