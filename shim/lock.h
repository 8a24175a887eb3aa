/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_LOCK_H
#define OTELCTX_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A lock that knows its owner: the word is 0, or the owner's thread pointer,
 * which no two threads share and which costs no system call. All zero is a
 * free lock, so a page wiped by fork holds one.
 *
 * Returns 0, or -EBUSY when the calling thread holds it already: a signal
 * handler that interrupted the owner would otherwise wait for ever. Also when
 * another thread has held it for a second without a break: it is forking then,
 * and waits in somebody else's atfork handler, maybe for what the calling
 * thread holds. And where a seccomp filter forbids to wait at all.
 */
int otelctx_lock(uint64_t *word);
void otelctx_unlock(uint64_t *word);

/* Does the calling thread hold it? */
bool otelctx_lock_is_mine(const uint64_t *word);

#endif
