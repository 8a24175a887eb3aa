/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_USAGE_H
#define OTELRUN_USAGE_H

/* Prints what --help prints: all options. */
void otelrun_usage_print(void);

#endif
