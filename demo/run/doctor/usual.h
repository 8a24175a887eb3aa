/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"

#define OTELRUN_LIBRARY  "libotelctx_preload.so"
#define OTELRUN_REQUESTS "libotelctx_requests.so"

/* What stands between libraries, see ld.so(8). */
#define OTELRUN_LD_PRELOAD  " :"
#define OTELRUN_ETC_PRELOAD " :\t\n"

#if defined(__x86_64__)
#define OTELRUN_TRIPLET "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define OTELRUN_TRIPLET "aarch64-linux-gnu"
#endif

/* Where dynamic linkers look, those of Debian, Red Hat and Alpine: directories
 * with a slash at the end; NULL last. */
extern const char *const otelrun_usual_places[];

/* The next library of such a list; empty at the end. */
struct otelctx_span otelrun_preload_next(struct otelctx_span *rest,
                                         const char *separators);

/* Is it a path, or the name, of the library of that name? */
bool otelrun_preload_is(struct otelctx_span entry, const char *library);

/* Is it our library, OTELRUN_LIBRARY? */
bool otelrun_preload_is_ours(struct otelctx_span entry);
