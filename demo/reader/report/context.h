/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/clock.h"
#include "demo/reader/os/maps.h"
#include "demo/reader/os/target.h"
#include "demo/reader/payload/decode.h"
#include "demo/reader/payload/fault.h"
#include "demo/reader/report/layout.h"
#include "demo/reader/report/status.h"
#include "shim/wire/process.h"

#include <stdbool.h>
#include <stdint.h>

/* One process context, as far as it could be read. */
struct otelread_context {
    struct otelread_mapping mapping;
    enum otelread_status status; /* OK, INVALID, BUSY or ERROR */
    char message[384];           /* what is wrong, unless OK */
    bool established;            /* signature and version were right */
    bool has_header;
    struct otelread_raw_header raw;
    enum otelread_layout layout;
    struct otelctx_header header; /* what the raw one says */
    bool bare;                    /* a Resource without its ProcessContext */
    uint64_t read_at_ns;          /* by the clock of the publisher's time */
    uint8_t *payload;             /* header.payload_size bytes, or NULL */
    struct otelread_fault fault;  /* of the payload */
    struct otelread_decoded decoded;
};

/*
 * Reads the header of a mapping that has the right name and checks signature
 * and version: sets status and message. Returns 0 or -errno; of failures only
 * -EFAULT (the mapping cannot be read) sets status and message.
 * Rule: OTEP 4719, "Reading Protocol", step 2.
 */
int otelread_context_validate(struct otelread_target *target,
                              struct otelread_context *context);

/*
 * Reads and decodes the context of an established mapping. Faults of the
 * context itself are reported by status and message.
 * Returns 0, -ENOENT (there is no context at this address any more) or what
 * otelread_memory_read() returns.
 * Rule: OTEP 4719, "Reading Protocol", steps 3 to 8.
 */
int otelread_context_read(struct otelread_target *target,
                          struct otelread_patience patience,
                          struct otelread_context *context);

/*
 * The eight bytes that are 0 while the context is written, and others when it
 * is another one, in any form.
 */
uint64_t otelread_context_stamp(const struct otelread_context *context);

/* Gives back what otelread_context_read() allocated. */
void otelread_context_free(struct otelread_context *context);
