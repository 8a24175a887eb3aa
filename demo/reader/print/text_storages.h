/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/threads.h"

#include <stdio.h>

/* The ring of a process, if it has one. */
void otelread_text_ring_print(FILE *out, const struct otelread_ring *ring);

/* The slots whose threads have ended. */
void otelread_text_leftovers_print(FILE *out, const struct otelread_ring *ring);

/* What a thread has besides its TLS, and whether that disagrees. */
void otelread_text_storages_print(FILE *out,
                                  const struct otelread_thread *thread);
