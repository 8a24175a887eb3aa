/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Room for any double, with its NUL. */
#define OTELBASE_DOUBLE_SIZE 32

/* The shortest decimal number that reads back as the same finite double. */
void otelbase_double_format(char out[OTELBASE_DOUBLE_SIZE], double value);
