/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <criterion/criterion.h>
#include <unistd.h>

/* Replaces stderr by a pipe. Returns the end to read from. */
static inline int hear(void)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], 2), 2);
    close(ends[1]);
    return ends[0];
}

/* What was written to stderr meanwhile; valid until the next call. */
static inline const char *heard(int end)
{
    static char out[1 << 14];
    size_t used = 0;
    ssize_t got;

    cr_assert_eq(dup2(end, 2), 2); /* not to be written to */
    while ((got = read(end, out + used, sizeof(out) - 1 - used)) > 0)
        used += (size_t)got;
    cr_assert_eq(got, 0);
    out[used] = '\0';
    close(end);
    return out;
}
