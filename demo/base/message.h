/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* A message for people, as by printf(3). It is cut where the room ends. */
__attribute__((format(printf, 3, 4))) void
otelbase_message_set(char *message, size_t size, const char *format, ...);

/* Appends to a message; "; " stands between the two. */
__attribute__((format(printf, 3, 4))) void
otelbase_message_add(char *message, size_t size, const char *format, ...);
