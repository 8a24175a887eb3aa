/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_LIBRARY_H
#define OTELRUN_LIBRARY_H

#include "demo/run/environment.h"

/* The path of libotelctx_preload.so: in LD_PRELOAD, beside this program, or
 * where the dynamic linker looks. NULL when there is none. */
const char *otelrun_library_find(const struct otelrun_environment *e);

/* "DIRECTORY/" of this program, or NULL. */
const char *otelrun_library_own_directory(void);

/* Puts the library in front of LD_PRELOAD, once; or, if it is NULL, takes
 * libotelctx_preload.so off it. */
void otelrun_library_preload(struct otelrun_environment *e,
                             const char *library);

#endif
