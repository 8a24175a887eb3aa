/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with a payload, and where. The first fault is kept. */
struct otelread_fault {
    size_t offset;   /* bytes from the start of the payload */
    char why[128];   /* empty: nothing is wrong */
    char where[128]; /* which attribute, or empty */
};

static inline bool otelread_fault_found(const struct otelread_fault *fault)
{
    return fault->why[0] != '\0';
}
