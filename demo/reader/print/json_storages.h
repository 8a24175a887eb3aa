/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/json_writer.h"
#include "demo/reader/report/threads.h"

/* The member "ring" of a process, if it has one. */
void otelread_json_ring_print(struct otelbase_json *json,
                              const struct otelread_ring *ring);

/* The members of a thread for what it has besides its TLS. */
void otelread_json_storages_print(struct otelbase_json *json,
                                  const struct otelread_storages *storages);
