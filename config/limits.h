/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_LIMITS_H
#define OTELCTX_LIMITS_H

/* What the shim accepts as OTELCTX_SCHEMA_VERSION, for it and for a checker of
 * configuration files. */
enum {
    OTELCTX_SCHEMA_MAX = 127 /* bytes */
};
#define OTELCTX_SCHEMA_EXPECTS "at most 127 bytes"

/* The schemas that some reader knows; as globs, without signs. */
#define OTELCTX_KNOWN_SCHEMAS "tlsdesc_v1_dev, tls_v1, go_pprof_labels_v1"

#endif
