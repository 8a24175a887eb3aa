/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_USUAL_H
#define OTELRUN_USUAL_H

#define OTELRUN_LIBRARY "libotelctx_preload.so"

#if defined(__x86_64__)
#define OTELRUN_TRIPLET "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define OTELRUN_TRIPLET "aarch64-linux-gnu"
#endif

/* Where dynamic linkers look, those of Debian, Red Hat and Alpine: directories
 * with a slash at the end; NULL last. */
extern const char *const otelrun_usual_places[];

#endif
