/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A look at another process, as often as there are instructions. */

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/* As cr_assert, but it does not tell Criterion of each success, which would
 * take longer than the look. */
#define STEP_ASSERT(condition, ...)                                            \
    do {                                                                       \
        if (!(condition))                                                      \
            cr_assert_fail(__VA_ARGS__);                                       \
    } while (0)

static inline bool peek(pid_t pid, uint64_t from, void *to, size_t size)
{
    struct iovec local = {to, size};
    struct iovec remote = {(void *)(uintptr_t)from, size};

    return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}
