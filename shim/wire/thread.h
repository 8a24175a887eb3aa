/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The bytes of a thread context that readers in other processes see. The shim
 * writes them and demo/reader reads them; the two share the headers of this
 * folder and nothing else.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* OTEP 4947, "Thread-Local Reference Data": keys of extra attributes. */
#define OTELCTX_SCHEMA_VERSION_KEY "threadlocal.schema_version"
#define OTELCTX_KEY_MAP_KEY        "threadlocal.attribute_key_map"
enum {
    OTELCTX_KEYS_MAX = 256 /* a key index is one byte */
};

/* OTEP 4947, "Thread-Local Variable": it points at the attached record. */
#define OTELCTX_THREAD_SYMBOL "otel_thread_ctx_v1"

/* Bytes of a whole record; the OpenTelemetry eBPF profiler reads no more. */
enum {
    OTELCTX_RECORD_SIZE = 640
};

/* OTEP 4947, "Thread-Local Context Record": the fields before the attributes.
 * An attribute is a key index (one byte), a length (one byte) and as many bytes
 * of UTF-8. Host byte order. */
struct otelctx_record_head {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t valid;       /* 1: valid; otherwise readers ignore the record */
    uint8_t trace_flags; /* of W3C Trace Context */
    uint16_t attrs_size; /* bytes */
};

static_assert(sizeof(struct otelctx_record_head) == 28, "padding");
static_assert(offsetof(struct otelctx_record_head, span_id) == 16, "");
static_assert(offsetof(struct otelctx_record_head, valid) == 24, "");
static_assert(offsetof(struct otelctx_record_head, trace_flags) == 25, "");
static_assert(offsetof(struct otelctx_record_head, attrs_size) == 26, "");
