/* SPDX-License-Identifier: Apache-2.0 */
#include "tls_image_module.h"

#include "shim/base/tls_image.h"

static _Thread_local volatile uint64_t word __attribute__((section(".tdata"))) =
    0;

#if defined(WORDS)
static _Thread_local volatile uint64_t another
    __attribute__((section(".tdata"))) = 0;
#endif

static uint64_t get(void)
{
#if defined(WORDS)
    return word | another;
#else
    return word;
#endif
}

__attribute__((visibility("default")))
const struct image_module MODULE = {.set = otelctx_tls_image_set, .get = get};
