/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_CONTEXT_H
#define OTELREAD_CONTEXT_H

#include "demo/reader/clock.h"
#include "demo/reader/decode.h"
#include "demo/reader/fault.h"
#include "demo/reader/maps.h"
#include "demo/reader/status.h"
#include "demo/reader/target.h"
#include "shim/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* One process context, as far as it could be read. */
struct otelread_context {
    struct otelread_mapping mapping;
    enum otelread_status status; /* OK, INVALID, BUSY or ERROR */
    char why[384];               /* what is wrong, unless OK */
    bool established;            /* signature and version were right */
    bool has_header;
    struct otelctx_header header;
    uint64_t read_at_ns;
    uint8_t *payload;            /* header.payload_size bytes, or NULL */
    struct otelread_fault fault; /* of the payload */
    struct otelread_decoded decoded;
};

/*
 * Reads the header of a mapping that has the right name and judges signature
 * and version: status and why. Returns 0 or -errno, which is noted in the
 * context only for -EFAULT (the mapping cannot be read).
 * Rule: OTEP 4719, "Reading Protocol", step 2.
 */
int otelread_context_validate(struct otelread_target *target,
                              struct otelread_context *context);

/*
 * Reads and decodes the context of an established mapping. Whatever is wrong
 * with the context itself is told by status and why.
 * Returns 0, -ENOENT (there is no context at this address any more) or what
 * otelread_target_read() says about the process.
 * Rule: OTEP 4719, "Reading Protocol", steps 3 to 8.
 */
int otelread_context_read(struct otelread_target *target,
                          struct otelread_patience patience,
                          struct otelread_context *context);

/* Gives back what otelread_context_read() allocated. */
void otelread_context_free(struct otelread_context *context);

#endif
