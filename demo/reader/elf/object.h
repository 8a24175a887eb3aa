/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/image.h"

#include <stdbool.h>
#include <stdint.h>

/* The executable or a library. */
struct otelread_object {
    struct otelread_elf elf;
    char *path; /* as in the maps */
    bool executable;
    bool defines;   /* it defines the variable */
    uint64_t value; /* offset of the variable in its TLS segment */
};
