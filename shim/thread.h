/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_THREAD_H
#define OTELCTX_THREAD_H

/*
 * The TLS variable that readers find, and what it points at. All calls act on
 * the calling thread only, without a lock, an allocation or a system call but
 * for otelctx_thread_share(). They expect checked arguments, and return what
 * the public calls of the same names do: see otelctx.h.
 * Rule: OTEP 4947, "Publication Protocol".
 */

#include "shim/record.h"

int otelctx_thread_attach(const struct otelctx_ids *ids);
/* value NULL: remove it; else at most OTELCTX_VALUE_MAX bytes. */
int otelctx_thread_attr(uint8_t key, const struct otelctx_span *value);
int otelctx_thread_detach(void);
int otelctx_thread_get(struct otelctx_ids *out);
struct otelctx_record *otelctx_thread_pin(void);
/* The record may be the thread's own, and is about to get a key. */
void otelctx_thread_forget_keys(const struct otelctx_record *record);
int otelctx_thread_swap(struct otelctx_record *record,
                        struct otelctx_record **previous);

/* Look at the variable: so it is resolved before anybody else looks. */
void otelctx_thread_touch(void);

/* Let the fast calls know where the variables are, if that can be known. */
void otelctx_thread_find(void);

/*
 * The context that threads start with: this one, unless somebody attached
 * something to it already, and, with all_threads, every later one.
 *
 * Returns 0, or -errno when later threads cannot get it: -EXDEV (the variable
 * is another module's) or as otelctx_image_set().
 */
int otelctx_thread_share(const struct otelctx_ids *ids, bool all_threads,
                         size_t page_size);

#endif
