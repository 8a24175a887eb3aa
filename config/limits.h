/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the shim accepts as OTELCTX_SCHEMA_VERSION and OTELCTX_ATTRIBUTE_KEYS.
 */
enum {
    OTELCTX_SCHEMA_MAX = 127, /* bytes */
    OTELCTX_ATTRIBUTE_KEYS_MAX = 256
};
#define OTELCTX_SCHEMA_EXPECTS "at most 127 bytes"

/* The schemas that at least one reader knows, as globs without wildcards. */
#define OTELCTX_GO_SCHEMA     "go_pprof_labels_v1" /* has no key map */
#define OTELCTX_KNOWN_SCHEMAS "tlsdesc_v1_dev, tls_v1, go_pprof_labels_v1"
