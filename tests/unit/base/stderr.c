/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/stderr.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* This program has a library, Criterion, whose constructor may open files. */

/* Make descriptor 2 an empty regular file. */
static void open_file(int flags)
{
    char path[] = "/tmp/otelctx-stderr-XXXXXX";
    const int fd = mkostemp(path, flags);

    cr_assert_geq(fd, 0);
    unlink(path);
    cr_assert_eq(dup2(fd, 2), 2);
}

Test(stderr, that_is_closed_is_not_usable)
{
    close(2);
    cr_expect_not(otelctx_stderr_is_usable());
}

Test(stderr, may_be_a_pipe)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], 2), 2);
    cr_expect(otelctx_stderr_is_usable());
}

Test(stderr, may_be_a_device)
{
    cr_assert_eq(dup2(open("/dev/null", O_WRONLY), 2), 2);
    cr_expect(otelctx_stderr_is_usable());
}

Test(stderr, that_may_be_a_data_file_is_not_usable)
{
    open_file(0);
    cr_expect_not(otelctx_stderr_is_usable());
}

Test(stderr, may_be_a_file_that_is_appended_to)
{
    open_file(O_APPEND);
    cr_expect(otelctx_stderr_is_usable());
}

Test(stderr, may_be_the_file_of_standard_output)
{
    const int output = dup(1);

    open_file(0);
    cr_assert_eq(dup2(2, 1), 1);
    cr_expect(otelctx_stderr_is_usable());
    open_file(0); /* another file on the same device */
    cr_expect_not(otelctx_stderr_is_usable());
    dup2(output, 1);
}
