/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/json_writer.h"
#include "demo/reader/report/threads.h"

/* The two members that --threads adds to the object of a process. */
void otelread_json_threads_print(struct otelbase_json *json,
                                 const struct otelread_threads *threads);
