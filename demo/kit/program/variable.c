/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The variable of OTEP 4947, as executables and libraries define it. Compiler
 * options choose how code reaches it, and what is wrong with it.
 */

#include <stdint.h>

const void *volatile *otelkit_slot_find(void);

#if defined(OTELKIT_NO_SYMBOL)
static _Thread_local const void *volatile variable;
#elif defined(OTELKIT_SIZE_4)
/* The linker writes the symbol's size, not the size of the memory. */
extern _Thread_local const void *volatile variable __asm__("otelkit_wide")
    __attribute__((visibility("hidden")));
_Thread_local const void *volatile variable;
__asm__(".globl otel_thread_ctx_v1\n"
        ".type otel_thread_ctx_v1, %tls_object\n"
        ".set otel_thread_ctx_v1, otelkit_wide\n"
        ".size otel_thread_ctx_v1, 4\n");
#elif defined(OTELKIT_NOT_TLS)
const void *volatile otel_thread_ctx_v1;
#define variable otel_thread_ctx_v1
#elif defined(OTELKIT_HIDDEN)
__attribute__((visibility(
    "hidden"))) _Thread_local const void *volatile otel_thread_ctx_v1;
#define variable otel_thread_ctx_v1
#else
_Thread_local const void *volatile otel_thread_ctx_v1;
#define variable otel_thread_ctx_v1
#endif

#ifdef OTELKIT_LARGE
/* More TLS than the dynamic linker reserves for libraries that dlopen() loads.
 */
__attribute__((used)) static _Thread_local char large[1 << 17];
#endif

const void *volatile *otelkit_slot_find(void)
{
    return &variable;
}
