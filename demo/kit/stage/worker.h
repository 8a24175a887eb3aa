/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Threads with contexts: OTEP 4947. */

#include "demo/kit/stage/bytes.h"
#include "demo/kit/stage/stage.h"
#include "shim/wire/thread.h"

#include <stdint.h>

/* A record with room for more attributes than any reader accepts. */
struct otelkit_record {
    struct otelctx_record_head head;
    uint8_t attrs[65536];
} __attribute__((aligned(8)));

/* The calling thread's otel_thread_ctx_v1. */
typedef const void *volatile *otelkit_slot_function(void);

/* Finds the variable in programs of program/; NULL elsewhere. */
extern otelkit_slot_function *otelkit_slot;

/* Opens the library of the scene, in a namespace of its own or not. After that
 * otelkit_slot() finds its variable. Returns 0 or -ENOTSUP. */
int otelkit_slot_open(struct otelkit_stage *stage, bool apart);

/* Set by programs that can. */
extern int (*otelkit_slot_opener)(struct otelkit_stage *stage, bool apart);

/* What the process announces about thread contexts; either may be NULL. */
void otelkit_announce(struct otelkit_bytes *bytes, const char *schema,
                      const char *const *keys);

/* The process context of most scenes: a service and two keys, http.route and
 * user.id. Returns 0 or -errno. */
int otelkit_publish_keys(struct otelkit_stage *stage);

/*
 * A valid record of one number: the trace id is the number twice, the span id
 * its complement, the flags are 1.
 */
void otelkit_record_fill(struct otelctx_record_head *head, uint64_t number);

struct otelkit_worker {
    struct otelkit_stage *stage;
    void (*run)(
        struct otelkit_worker *worker); /* after this, the thread waits */
    const void *how;
    uint64_t number;
    pid_t tid; /* set before run */
    void *shared;
};

/* Starts a thread and waits until it has run. Returns 0 or -errno. */
int otelkit_worker_start(struct otelkit_worker *worker);

/* Call in `run` if it goes on for long: otelkit_worker_start() returns now. */
void otelkit_worker_ready(struct otelkit_worker *worker);

/* Attaches an ordinary record of worker->number, and expects that record. */
void otelkit_worker_attach(struct otelkit_worker *worker);

/* Expects this answer for the thread: attributes is a JSON object or NULL. */
void otelkit_expect_thread(struct otelkit_stage *stage, pid_t tid,
                           const char *answer,
                           const struct otelctx_record_head *head,
                           const char *attributes);

/* Expects ids that match each other as otelkit_record_fill() makes them. */
void otelkit_expect_paired(struct otelkit_stage *stage, pid_t tid);

pid_t otelkit_tid(void);
