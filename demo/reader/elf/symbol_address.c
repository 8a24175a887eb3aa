/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/symbol_address.h"

#include "demo/reader/elf/dtv.h"

#include <errno.h>

int otelread_symbol_address(struct otelread_target *target,
                            const struct otelread_symbol *symbol,
                            uint64_t thread_pointer, uint64_t *address)
{
    uint64_t base = thread_pointer;

    if (thread_pointer == 0) /* the thread is not set up yet */
        return -ENODATA;
    if (!otelread_access_is_static(symbol->access)) {
        const int error =
            otelread_dtv_block(target, symbol, thread_pointer, &base);

        if (error != 0)
            return error;
    }
    *address = base + (uint64_t)symbol->offset;
    return 0;
}
