/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/snapshot.h"

#include "demo/reader/elf/symbol_address.h"
#include "demo/reader/os/memory.h"

#include <errno.h>
#include <string.h>

static int slot_read(struct otelread_target *target,
                     const struct otelread_symbol *symbol, uint64_t pointer,
                     uint64_t *record)
{
    uint64_t slot = 0;
    const int error = otelread_symbol_address(target, symbol, pointer, &slot);

    if (error != 0)
        return error;
    return otelread_memory_read(target, slot, record, sizeof(*record));
}

static void record_take(struct otelread_snapshot *snapshot,
                        struct otelread_target *target,
                        const struct otelread_symbol *symbol, uint64_t pointer)
{
    struct otelread_record *const record = &snapshot->record;

    snapshot->slot_error = slot_read(target, symbol, pointer, &record->address);
    if (snapshot->slot_error != 0 || record->address == 0)
        return;
    snapshot->head_error = otelread_memory_read(
        target, record->address, &record->head, sizeof(record->head));
    if (snapshot->head_error != 0 || record->head.valid != 1)
        return;

    const size_t size = otelread_record_attrs_size(&record->head);
    if (size == 0)
        return;
    const int error = otelread_memory_read(
        target, record->address + sizeof(record->head), record->attrs, size);
    record->attrs_missing = error != 0;
    if (error == -ETIMEDOUT)
        snapshot->head_error = error;
    if (record->attrs_missing)
        (void)memset(record->attrs, 0, sizeof(record->attrs));
}

void otelread_snapshot_take_profiler(struct otelread_snapshot *snapshot,
                                     struct otelread_target *target,
                                     const struct otelread_symbol *symbol,
                                     uint64_t pointer)
{
    uint64_t address = 0;

    snapshot->profiler_error =
        otelread_symbol_address(target, symbol, pointer, &address);
    if (snapshot->profiler_error == 0)
        snapshot->profiler_error = otelread_memory_read(
            target, address, &snapshot->profiler, sizeof(snapshot->profiler));
    if (snapshot->profiler_error != 0)
        (void)memset(&snapshot->profiler, 0, sizeof(snapshot->profiler));
}

void otelread_snapshot_take(struct otelread_snapshot *snapshot,
                            struct otelread_target *target,
                            const struct otelread_places *places,
                            uint64_t pointer, uint32_t inside)
{
    *snapshot = (struct otelread_snapshot){.slot_error = 0};
    if (places->tls)
        record_take(snapshot, target, places->tls, pointer);
    if (places->profiler)
        otelread_snapshot_take_profiler(snapshot, target, places->profiler,
                                        pointer);
    if (!places->ring)
        return;
    snapshot->ring_error = otelread_ring_read(
        places->ring, target, otelread_ring_index(places->ring, inside),
        &snapshot->ring);
    if (snapshot->ring_error != 0)
        (void)memset(&snapshot->ring, 0, sizeof(snapshot->ring));
}

bool otelread_snapshot_is_same(const struct otelread_snapshot *a,
                               const struct otelread_snapshot *b)
{
    return a->slot_error == b->slot_error && a->head_error == b->head_error &&
           a->record.address == b->record.address &&
           a->record.attrs_missing == b->record.attrs_missing &&
           memcmp(&a->record.head, &b->record.head, sizeof(a->record.head)) ==
               0 &&
           memcmp(a->record.attrs, b->record.attrs, sizeof(a->record.attrs)) ==
               0 &&
           a->profiler_error == b->profiler_error &&
           memcmp(&a->profiler, &b->profiler, sizeof(a->profiler)) == 0 &&
           a->ring_error == b->ring_error &&
           memcmp(&a->ring, &b->ring, sizeof(a->ring)) == 0;
}
