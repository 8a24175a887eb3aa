/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_DOUBLE_H
#define OTELREAD_DOUBLE_H

/* Room for any double, with its NUL. */
#define OTELREAD_DOUBLE_SIZE 32

/* The shortest decimal number that reads back as the same finite double. */
void otelread_double_format(char out[OTELREAD_DOUBLE_SIZE], double value);

#endif
