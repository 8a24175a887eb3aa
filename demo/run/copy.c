/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/copy.h"

#include "demo/run/doctor/usual.h"
#include "demo/run/memory.h"
#include "demo/run/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 or -errno. */
static int copy_bytes(int from, int to)
{
    ssize_t got;

    do
        got = sendfile(to, from, NULL, 1 << 20);
    while (got > 0);
    return got == 0 ? 0 : -errno;
}

static int copy_to_new(int from, const char *path, mode_t mode)
{
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int err;

    if (to < 0)
        return -errno;
    err = copy_bytes(from, to);
    if (err == 0 && fchmod(to, mode) != 0) /* whatever the umask is */
        err = -errno;
    if (close(to) != 0 && err == 0)
        err = -errno;
    return err;
}

static int copy_file(const char *source, const char *directory,
                     const char *name, mode_t mode)
{
    const char *const path = otelrun_format("%s/%s", directory, name);
    const char *const draft =
        otelrun_format("%s/.%s.%d", directory, name, (int)getpid());
    const int from = open(source, O_RDONLY | O_CLOEXEC);
    int err = from < 0 ? -errno : copy_to_new(from, draft, mode);

    if (from >= 0)
        (void)close(from);
    if (err == 0 && rename(draft, path) != 0)
        err = -errno;
    if (err == 0)
        return 0;
    (void)unlink(draft);
    (void)fprintf(stderr, "otelctx-run: cannot copy %s to %s: %s\n", source,
                  path, strerror(-err));
    return OTELRUN_FAILURE;
}

int otelrun_copy(const char *directory, const char *library)
{
    if (!library) {
        (void)fputs("otelctx-run: there is no " OTELRUN_LIBRARY "\n", stderr);
        return OTELRUN_FAILURE;
    }
    if (copy_file(library, directory, OTELRUN_LIBRARY, 0644))
        return OTELRUN_FAILURE;
    return copy_file("/proc/self/exe", directory, "otelctx-run", 0755);
}
