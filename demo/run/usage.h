/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Prints what --help prints: all options. */
void otelrun_usage_print(void);
