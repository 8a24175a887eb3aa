// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "demo/base/flush.h"

int otelbase_flush(FILE *out)
{
    if (fflush(out) != 0)
        return errno;
    return ferror(out) ? EIO : 0;
}
