/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/symbol_address.h"

#include "demo/reader/elf/symbol.h"
#include "demo/reader/os/memory.h"
#include "demo/reader/os/target.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/* glibc, sysdeps/generic/dl-dtv.h: the value of a block not allocated yet. */
#define UNALLOCATED UINT64_MAX

/* glibc, dtv_t: two words for each module. */
struct glibc_entry {
    uint64_t value; /* in entry -1 the table's length, in 0 its generation */
    uint64_t to_free;
};

static int glibc_block(struct otelread_target *target,
                       const struct otelread_symbol *symbol, uint64_t table,
                       uint64_t *block)
{
    struct glibc_entry head[2];
    struct glibc_entry entry;
    int error = otelread_memory_read(target, table - sizeof(head[0]), head,
                                     sizeof(head));

    if (error != 0)
        return error;
    if (symbol->module > head[0].value || head[1].value < symbol->generation)
        return -ENODATA;
    error = otelread_memory_read(target, table + symbol->module * sizeof(entry),
                                 &entry, sizeof(entry));
    *block = entry.value;
    return error;
}

/* musl, __tls_get_addr(): a length, then one word for each module. */
static int musl_block(struct otelread_target *target,
                      const struct otelread_symbol *symbol, uint64_t table,
                      uint64_t *block)
{
    uint64_t length;
    int error = otelread_memory_read(target, table, &length, sizeof(length));

    if (error != 0)
        return error;
    if (symbol->module > length)
        return -ENODATA;
    return otelread_memory_read(target, table + symbol->module * sizeof(*block),
                                block, sizeof(*block));
}

/* Where each libc keeps the table's address, from the thread pointer. */
static const struct layout {
    enum otelread_libc libc;
    uint16_t machine;
    int64_t table;
    int (*block)(struct otelread_target *target,
                 const struct otelread_symbol *symbol, uint64_t table,
                 uint64_t *block);
} layouts[] = {
    {OTELREAD_GLIBC, EM_X86_64, 8, glibc_block},  /* tcbhead_t.dtv */
    {OTELREAD_GLIBC, EM_AARCH64, 0, glibc_block}, /* the same */
    {OTELREAD_MUSL, EM_X86_64, 8, musl_block},    /* struct pthread.dtv */
    {OTELREAD_MUSL, EM_AARCH64, -8, musl_block},  /* that, its last member */
};

static const struct layout *layout_find(const struct otelread_symbol *symbol)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (layouts[i].libc == symbol->libc &&
            layouts[i].machine == symbol->machine)
            return &layouts[i];
    }
    return NULL;
}

/*
 * Where a thread has the TLS block of symbol->module, by the table that libc
 * keeps for each thread: the dynamic thread vector.
 * Returns 0, -ENODATA (the thread has no such block), -ENOTSUP (a libc whose
 * table is unknown here) or what otelread_memory_read() says.
 */
static int block_find(struct otelread_target *target,
                      const struct otelread_symbol *symbol,
                      uint64_t thread_pointer, uint64_t *block)
{
    const struct layout *const layout = layout_find(symbol);
    uint64_t table;

    if (!layout)
        return -ENOTSUP;
    int error =
        otelread_memory_read(target, thread_pointer + (uint64_t)layout->table,
                             &table, sizeof(table));
    if (error != 0)
        return error;
    if (table == 0) /* the thread is not set up yet */
        return -ENODATA;
    error = layout->block(target, symbol, table, block);
    if (error == 0 && (*block == 0 || *block == UNALLOCATED))
        return -ENODATA;
    return error;
}

int otelread_symbol_address(struct otelread_target *target,
                            const struct otelread_symbol *symbol,
                            uint64_t thread_pointer, uint64_t *address)
{
    uint64_t base = thread_pointer;

    if (thread_pointer == 0) /* the thread is not set up yet */
        return -ENODATA;
    if (!otelread_access_is_static(symbol->access)) {
        const int error = block_find(target, symbol, thread_pointer, &base);

        if (error != 0)
            return error;
    }
    *address = base + (uint64_t)symbol->offset;
    return 0;
}
