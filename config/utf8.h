/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"

/* Return how many bytes at the start of a text are whole, valid UTF-8
 * characters: text.size when all are. Rule: Unicode, table 3-7, "Well-Formed
 * UTF-8 Byte Sequences" (no overlong forms, no surrogates, nothing above
 * U+10FFFF). */
size_t otelctx_utf8_valid(struct otelctx_span text);
