/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shim/otelctx.h"

/* The calling thread's `otel_thread_ctx_v1`, as another writer finds it. */
struct otelctx_record **sharer_slot(void);
