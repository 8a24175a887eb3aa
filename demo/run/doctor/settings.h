/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/run/doctor/checks.h"

/*
 * Do the settings of a program let the library publish, and are they right?
 *
 * root        see root.h: that of the program
 * envp        the program's environment; NULL if the library must not trust it
 * executable  its path, for the globs
 */
bool otelrun_settings_check(int root, char *const *envp, const char *executable,
                            struct otelrun_checks *checks);

/* Does the configuration file alone say OTELCTX_PUBLISH=configured? */
bool otelrun_settings_publish_configured(void);
