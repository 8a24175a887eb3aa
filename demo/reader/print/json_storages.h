/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_JSON_STORAGES_H
#define OTELREAD_JSON_STORAGES_H

#include "demo/reader/report/threads.h"
#include "demo/reader/text/json_writer.h"

/* The member "ring" of a process, if it has one. */
void otelread_json_ring_print(struct otelread_json *json,
                              const struct otelread_ring *ring);

/* The members of a thread for what it has besides its TLS. */
void otelread_json_storages_print(struct otelread_json *json,
                                  const struct otelread_storages *storages);

#endif
