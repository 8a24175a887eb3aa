/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"

/*
 * The first of several patterns, separated by ",", that a path matches; its
 * `at` is NULL when there is none.
 *
 * A pattern is that of fnmatch(3) without flags, in the C locale and without
 * classes such as "[:alpha:]": "*" is any run of bytes, "/" among them, "?" one
 * byte, "[a-z]" and "[!a-z]" one of a set, and "\" takes the meaning off the
 * next. What is begun and not ended means itself. Spaces and tabs around a
 * pattern and empty patterns count for nothing.
 */
struct otelctx_span otelctx_glob_find(struct otelctx_span patterns,
                                      struct otelctx_span path);

/* Return whether the pattern, which is not empty, can match the absolute path
 * of a file. A pattern that begins with another character than "/", or ends in
 * "/", cannot. */
bool otelctx_glob_may_match_file(struct otelctx_span pattern);
