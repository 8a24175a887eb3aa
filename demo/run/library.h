/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/run/environment.h"

/* The path of libotelctx_preload.so: in LD_PRELOAD, beside this program, or
 * where the dynamic linker looks. NULL when there is none. */
const char *otelrun_library_find(const struct otelrun_environment *e);

/* "DIRECTORY/" of this program, or NULL. */
const char *otelrun_library_own_directory(void);

/* The path where libotelctx_requests.so is expected: beside the library. */
const char *otelrun_library_requests(const char *library);

/* Puts the library in front of LD_PRELOAD, once, and behind it, unless NULL,
 * the library of requests; or, if the library is NULL, takes
 * libotelctx_preload.so off it. */
void otelrun_library_preload(struct otelrun_environment *e, const char *library,
                             const char *requests);
