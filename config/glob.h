/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_GLOB_H
#define OTELCTX_GLOB_H

#include "config/span.h"

/*
 * Does a path match one of several patterns, separated by ","?
 *
 * A pattern is that of fnmatch(3) without flags, in the C locale and without
 * classes such as "[:alpha:]": "*" is any run of bytes, "/" among them, "?" one
 * byte, "[a-z]" and "[!a-z]" one of a set, and "\" takes the meaning off the
 * next. What is begun and not ended means itself. Spaces and tabs around a
 * pattern and empty patterns count for nothing.
 */
bool otelctx_glob_any(struct otelctx_span patterns, struct otelctx_span path);

#endif
