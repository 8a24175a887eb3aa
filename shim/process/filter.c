/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/filter.h"

#include "shim/base/sys.h"

/* Once a filter is noted, make no system call to find one: the filter may kill
 * the process for it. */
static bool noted;
static int mode_before; /* 1 + the mode at the first start; 0: not started */

void otelctx_filter_start(void)
{
    if (mode_before == 0)
        mode_before = 1 + otelctx_sys_seccomp();
}

void otelctx_filter_note(void)
{
    noted = true;
}

bool otelctx_filter_came(void)
{
    return noted || 1 + otelctx_sys_seccomp() != mode_before;
}
