/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A process context, step by step: OTEP 4719, "Publication Protocol". */

#include "demo/kit/stage/bytes.h"
#include "demo/kit/stage/stage.h"
#include "shim/wire/process.h"

enum otelkit_mapping {
    OTELKIT_MEMFD,       /* without prctl's name: [/memfd:OTEL_CTX (deleted)] */
    OTELKIT_MEMFD_NAMED, /* [anon_shmem:OTEL_CTX] */
    OTELKIT_ANONYMOUS,   /* no name at all */
    OTELKIT_ANONYMOUS_NAMED /* [anon:OTEL_CTX] */
};

/* The expected resource of otelkit_service(bytes, "shop"). */
#define OTELKIT_SHOP "{\"service.name\":\"shop\"}"

uint64_t otelkit_boottime_ns(void);
void otelkit_sleep_ms(long ms);

/* Makes an empty mapping of that many pages at *out. Returns 0 or -errno. */
int otelkit_map(struct otelkit_stage *stage, enum otelkit_mapping kind,
                const char *name, size_t pages, struct otelctx_header **out);

/* The header that a right publisher writes for this payload at this time. */
struct otelctx_header otelkit_header(const void *payload, size_t size);

/* Steps 6 to 9: the timestamp last. */
void otelkit_write(struct otelctx_header *at, struct otelctx_header header);

/* "Updating Protocol", steps 2 to 6. */
void otelkit_update(struct otelctx_header *at, struct otelctx_header header);

/* A mapping as most publishers make it, already published, with the service
 * "shop" behind the header. *out may be NULL. */
int otelkit_publish_shop(struct otelkit_stage *stage,
                         struct otelctx_header **out);

/* The same with these bytes, which the caller keeps. */
int otelkit_publish_bytes(struct otelkit_stage *stage,
                          const struct otelkit_bytes *bytes,
                          struct otelctx_header **out);

/* Runs this in another thread as long as the process lives. Returns 0 or
 * -errno. */
int otelkit_go_on(void *(*what)(void *argument), void *argument);
