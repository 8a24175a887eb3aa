/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The bytes of the process context that readers in other processes see. The
 * shim writes them and demo/reader reads them; the two share the headers of
 * this folder and nothing else.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* OTEP 4719, "Reading Protocol", step 1: the name of the mapping. */
#define OTELCTX_MAPPING_NAME "OTEL_CTX"

/* OTEP 4719, "Header Structure". The signature is stored without its NUL; gcc
 * 15 and later warn of that unless the array is declared OTELCTX_NONSTRING. */
#define OTELCTX_SIGNATURE "OTEL_CTX"
#if __has_attribute(nonstring)
#define OTELCTX_NONSTRING __attribute__((nonstring))
#else
#define OTELCTX_NONSTRING
#endif
enum {
    OTELCTX_SIGNATURE_SIZE = 8,
    OTELCTX_HEADER_VERSION = 2
};

/* Bytes. The OpenTelemetry eBPF profiler and OBI (OpenTelemetry eBPF
 * Instrumentation) read no longer payload. */
enum {
    OTELCTX_PAYLOAD_MAX = 65536
};

/* OTEP 4719, "Header Structure". Host byte order. */
struct otelctx_header {
    uint8_t signature[OTELCTX_SIGNATURE_SIZE] OTELCTX_NONSTRING;
    uint32_t version;
    uint32_t payload_size;    /* bytes */
    uint64_t published_at_ns; /* CLOCK_BOOTTIME; 0 = being written */
    uint64_t payload;         /* address in the publisher */
};

static_assert(sizeof(struct otelctx_header) == 32, "padding");
static_assert(offsetof(struct otelctx_header, version) == 8, "");
static_assert(offsetof(struct otelctx_header, payload_size) == 12, "");
static_assert(offsetof(struct otelctx_header, published_at_ns) == 16, "");
static_assert(offsetof(struct otelctx_header, payload) == 24, "");
