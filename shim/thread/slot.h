/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The slot is the thread-local variable otel_thread_ctx_v1: readers find it by
 * its name, and it points at the record that is attached to the thread.
 *
 * All functions act on the calling thread. None of them takes a lock, allocates
 * or makes a system call, except otelctx_thread_share(). Callers check the
 * arguments. Each function returns what the public function of that name in
 * otelctx.h returns.
 * Rule: OTEP 4947, "Publication Protocol".
 */

#include "shim/thread/record.h"

/* attrs: the bytes of a record's `attrs`, which are well-formed */
int otelctx_thread_attach(const struct otelctx_ids *ids,
                          struct otelctx_span attrs);
/* value: at most OTELCTX_VALUE_MAX bytes; NULL: remove the attribute. */
int otelctx_thread_attr(uint8_t key, const struct otelctx_span *value);
int otelctx_thread_detach(void);
int otelctx_thread_get(struct otelctx_ids *out);
struct otelctx_record *otelctx_thread_pin(void);
/* Set all key_bits, so that thread_fast.c assumes no key is new. Call before
 * otelctx_record_change(), which does not update key_bits, if the record may be
 * the thread's own. */
void otelctx_thread_assume_all_keys(const struct otelctx_record *record);
int otelctx_thread_swap(struct otelctx_record *record,
                        struct otelctx_record **previous);

/*
 * Attach a context to the calling thread, unless one is attached already; with
 * all_threads also to every thread that is created later.
 *
 * Returns 0, or -errno if later threads cannot get the context: -EXDEV (another
 * module defines the slot that this process uses) or an error of
 * otelctx_tls_image_set().
 */
int otelctx_thread_share(const struct otelctx_ids *ids, bool all_threads,
                         size_t page_size);
