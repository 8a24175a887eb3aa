/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/doctor/usual.h"

#include <stddef.h>

const char *const otelrun_usual_places[] = {
    "/usr/local/lib/",
    "/usr/local/lib/" OTELRUN_TRIPLET "/",
    "/lib/" OTELRUN_TRIPLET "/",
    "/usr/lib/" OTELRUN_TRIPLET "/",
    "/lib64/",
    "/usr/lib64/",
    "/lib/",
    "/usr/lib/",
    NULL,
};
