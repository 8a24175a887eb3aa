/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/snapshot.h"

#include "demo/reader/elf/symbol_address.h"
#include "demo/reader/os/memory.h"

#include <errno.h>
#include <string.h>

/*
 * What one read brought. Of a stopped thread, variable and record are read at
 * once where the last thread had them side by side; any other record in full,
 * before its size is known.
 */
struct copy {
    uint64_t start;
    size_t size;
    uint8_t bytes[2 * OTELCTX_RECORD_SIZE];
};

static bool copy_has(const struct copy *copy, uint64_t address, size_t size)
{
    return address >= copy->start && size <= copy->size &&
           address - copy->start <= copy->size - size;
}

static void copy_fill(struct copy *copy, struct otelread_target *target,
                      uint64_t start, uint64_t size)
{
    if (!target->only_resident || size > sizeof(copy->bytes) ||
        otelread_memory_peek(target, start, copy->bytes, (size_t)size) != 0)
        return;
    copy->start = start;
    copy->size = (size_t)size;
}

/* From the variable to the end of the record, or the other way round. */
static void copy_fill_both(struct copy *copy, struct otelread_target *target,
                           uint64_t slot, int64_t distance)
{
    if (distance > 0)
        copy_fill(copy, target, slot, (uint64_t)distance + OTELCTX_RECORD_SIZE);
    else if (distance < 0)
        copy_fill(copy, target, slot + (uint64_t)distance,
                  sizeof(uint64_t) - (uint64_t)distance);
}

static int copy_read(const struct copy *copy, struct otelread_target *target,
                     uint64_t address, void *out, size_t size)
{
    if (!copy_has(copy, address, size))
        return otelread_memory_read(target, address, out, size);
    (void)memcpy(out, copy->bytes + (address - copy->start), size);
    return 0;
}

static void record_take(struct otelread_snapshot *snapshot,
                        struct otelread_target *target,
                        const struct otelread_places *places, uint64_t pointer)
{
    struct otelread_record *const record = &snapshot->record;
    struct copy copy = {.size = 0};
    uint64_t slot = 0;

    snapshot->slot_error =
        otelread_symbol_address(target, places->tls, pointer, &slot);
    if (snapshot->slot_error != 0)
        return;
    if (places->distance)
        copy_fill_both(&copy, target, slot, *places->distance);
    snapshot->slot_error = copy_read(&copy, target, slot, &record->address,
                                     sizeof(record->address));
    if (snapshot->slot_error != 0 || record->address == 0)
        return;
    if (places->distance)
        *places->distance = (int64_t)(record->address - slot);

    if (!copy_has(&copy, record->address, sizeof(record->head)))
        copy_fill(&copy, target, record->address, OTELCTX_RECORD_SIZE);
    snapshot->head_error = copy_read(&copy, target, record->address,
                                     &record->head, sizeof(record->head));
    if (snapshot->head_error != 0 || record->head.valid != 1)
        return;

    const size_t size = otelread_record_attrs_size(&record->head);
    if (size == 0)
        return;
    const int error =
        copy_read(&copy, target, record->address + sizeof(record->head),
                  record->attrs, size);
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
        record_take(snapshot, target, places, pointer);
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
