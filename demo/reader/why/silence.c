/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/why/process.h"

#include "demo/run/doctor/settings.h"

#include <unistd.h>

/* More than a page for the header and two areas for long payloads. */
#define ROOM (256L << 10)

static bool check_seccomp(const struct otelread_process *p)
{
    const long mode = otelread_process_status(p->pid, "\nSeccomp:\t");

    if (mode > 0)
        return otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_SECCOMP,
            "allow memfd_create(2), madvise(2) and the others that "
            "libotelctx_preload(7) lists",
            "a filter (mode %ld) may have refused what publishing needs", mode);
    otelrun_checks_pass(p->checks, OTELRUN_CHECK_SECCOMP, "no filter");
    return true;
}

static bool check_limits(const struct otelread_process *p)
{
    const long space = otelread_process_limit(p, "Max address space");
    const long mapped = otelread_process_status(p->pid, "\nVmSize:\t") * 1024;
    const long file_size = otelread_process_limit(p, "Max file size");

    if (file_size >= 0 && file_size < sysconf(_SC_PAGESIZE))
        return otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_LIMITS, "raise ulimit -f to a page",
            "files may have %ld bytes, less than the mapping needs", file_size);
    if (space >= 0 && space - mapped < ROOM)
        return otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_LIMITS, "raise ulimit -v",
            "the address space may have %ld bytes and has %ld: no room for "
            "the mapping",
            space, mapped);
    otelrun_checks_pass(p->checks, OTELRUN_CHECK_LIMITS, "wide enough");
    return true;
}

void otelread_silence_check(const struct otelread_process *p)
{
    static const enum otelrun_check_id ids[] = {
        OTELRUN_CHECK_SETTINGS, OTELRUN_CHECK_SECCOMP, OTELRUN_CHECK_LIMITS,
        OTELRUN_CHECK_CONTEXT};

    otelrun_checks_ask(p->checks, ids, sizeof(ids) / sizeof(ids[0]));
    if (otelrun_settings_check(p->root, p->is_secure ? NULL : p->strings,
                               p->program.file, p->checks) &&
        check_limits(p) && check_seccomp(p))
        (void)otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_CONTEXT,
            "start it with OTELCTX_LOG_LEVEL=debug, which says what happens",
            "the library is at work and shows nothing: the program withdrew "
            "the context, or was forked with OTELCTX_FORK=drop");
}
