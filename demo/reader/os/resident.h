/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the memory of a process, but only pages that are in its page tables
 * already: such a read causes no page fault, so it cannot block. Both files
 * refer to the address space at the time of opening: after an exec they still
 * refer to the old one.
 */
struct otelread_resident {
    int pagemap; /* /proc/PID/pagemap; 0: not tried yet, negative: refused */
    int memory;  /* /proc/PID/mem */
};

void otelread_resident_close(struct otelread_resident *resident);

/*
 * Copies exactly size bytes. Returns 0, -EFAULT (no such address, or the
 * address space is gone) or -EAGAIN (not known to be resident, not read).
 */
int otelread_resident_read(const struct otelread_resident *resident,
                           uint64_t address, void *out, size_t size);

/*
 * The same without looking at the page tables, for memory that cannot block.
 * Returns 0 or -EAGAIN.
 */
int otelread_resident_copy(const struct otelread_resident *resident,
                           uint64_t address, void *out, size_t size);

/* Whether the address space is gone, by an exec or an exit. */
bool otelread_resident_is_gone(const struct otelread_resident *resident);
