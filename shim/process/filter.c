/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/filter.h"

#include "shim/base/sys.h"

/* Once a filter is noted, make no system call to find one: the filter may kill
 * the process for it. */
static bool noted;
static bool is_started, may_come_unseen;
static int mode_before; /* 1 + the mode before any filter came; 0: unknown */

void otelctx_filter_start(void)
{
    if (is_started)
        return;
    is_started = true;
    may_come_unseen = otelctx_sys_no_new_privileges();
    if (may_come_unseen)
        otelctx_filter_expect();
}

bool otelctx_filter_may_come_unseen(void)
{
    return may_come_unseen;
}

void otelctx_filter_expect(void)
{
    if (is_started && mode_before == 0)
        mode_before = 1 + otelctx_sys_seccomp();
}

void otelctx_filter_note(void)
{
    noted = true;
}

/* Most often one system call: the mode at the start need not be known to see
 * that there is no filter, or that no-new-privs, without which a filter cannot
 * come, is not set. */
bool otelctx_filter_came(void)
{
    int mode;

    if (noted)
        return true;
    mode = otelctx_sys_seccomp();
    if (mode_before)
        return 1 + mode != mode_before;
    return mode != 0 && otelctx_sys_no_new_privileges();
}
