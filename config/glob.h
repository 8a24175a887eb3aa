/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_GLOB_H
#define OTELCTX_GLOB_H

#include "config/span.h"

/*
 * Does a path match one of several patterns, separated by ","?
 *
 * A pattern is that of fnmatch(3) without flags: "*" is any run of characters,
 * "/" among them, "?" one character, "[a-z]" and "[!a-z]" one of a set, and
 * "\" takes the meaning off the next. Spaces and tabs around a pattern and
 * empty patterns count for nothing.
 */
bool otelctx_glob_any(struct otelctx_span patterns, struct otelctx_span path);

#endif
