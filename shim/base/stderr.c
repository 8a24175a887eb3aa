/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/stderr.h"

#include "shim/base/host.h"
#include "shim/base/sys.h"

enum {
    STDOUT = 1,
    STDERR = 2
};

bool otelctx_stderr_is_usable(void)
{
    struct otelctx_file_id file, output;

    if (otelctx_sys_file_id(STDERR, &file))
        return false;
    if (!file.is_regular || otelctx_sys_appends(STDERR))
        return true;
    return (!otelctx_sys_file_id(STDOUT, &output) &&
            output.device == file.device && output.inode == file.inode) ||
           !otelctx_host_has_other_libraries();
}
