/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/* Prints that no scenario has this name, and the names that are near. */
void otelkit_near_print(FILE *out, const char *program, const char *name);
