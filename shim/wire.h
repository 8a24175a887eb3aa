/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_WIRE_H
#define OTELCTX_WIRE_H

/*
 * Every byte that outside readers see, and nothing else. The shim writes it,
 * demo/reader reads it; the two share this file and no code.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* OTEP 4719, "Reading Protocol", step 1: what the mapping is called. */
#define OTELCTX_MAPPING_NAME "OTEL_CTX"

/* OTEP 4719, "Header Structure". */
#define OTELCTX_SIGNATURE      "OTEL_CTX" /* eight bytes, the NUL not stored */
#define OTELCTX_SIGNATURE_SIZE 8
#define OTELCTX_HEADER_VERSION 2

/* The longest payload that the eBPF profiler and OBI read, in bytes. */
#define OTELCTX_PAYLOAD_MAX 65536

/* OTEP 4719, "Header Structure". Host byte order. */
struct otelctx_header {
    uint8_t signature[OTELCTX_SIGNATURE_SIZE];
    uint32_t version;
    uint32_t payload_size;    /* bytes */
    uint64_t published_at_ns; /* CLOCK_BOOTTIME; 0 = being written */
    uint64_t payload;         /* address in the publisher */
};

static_assert(sizeof(struct otelctx_header) == 32, "packed by nature");
static_assert(offsetof(struct otelctx_header, version) == 8, "");
static_assert(offsetof(struct otelctx_header, payload_size) == 12, "");
static_assert(offsetof(struct otelctx_header, published_at_ns) == 16, "");
static_assert(offsetof(struct otelctx_header, payload) == 24, "");

/* OTEP 4947, "Thread-Local Reference Data": keys of extra attributes. */
#define OTELCTX_SCHEMA_VERSION_KEY "threadlocal.schema_version"
#define OTELCTX_KEY_MAP_KEY        "threadlocal.attribute_key_map"
#define OTELCTX_KEYS_MAX           256 /* key indexes are a byte */

/* OTEP 4947, "Thread-Local Variable": the address of the active record. */
#define OTELCTX_THREAD_SYMBOL "otel_thread_ctx_v1"

/* The whole record, in bytes: what the eBPF profiler reads of one. */
#define OTELCTX_RECORD_SIZE 640

/* OTEP 4947, "Thread-Local Context Record": what comes before the attributes,
 * each of which is a key index, a length and that many bytes. Host byte order.
 */
struct otelctx_record_head {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t valid;       /* 1; anything else: ignore the record */
    uint8_t trace_flags; /* of W3C Trace Context */
    uint16_t attrs_size; /* bytes */
};

static_assert(sizeof(struct otelctx_record_head) == 28, "packed by nature");
static_assert(offsetof(struct otelctx_record_head, span_id) == 16, "");
static_assert(offsetof(struct otelctx_record_head, valid) == 24, "");
static_assert(offsetof(struct otelctx_record_head, trace_flags) == 25, "");
static_assert(offsetof(struct otelctx_record_head, attrs_size) == 26, "");

#endif
