/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Checks a configuration file of the shim by the shim's own parsers: prints
 * each fault with line and byte on standard error. Returns an exit status: 0
 * when there is none, else OTELREAD_ERROR.
 */
int otelread_check_config(const char *path);
