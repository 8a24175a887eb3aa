/* SPDX-License-Identifier: Apache-2.0 */

/* A variable and records in this process, read as of a thread that stopped. */
#include "demo/reader/report/snapshot.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)65536) /* at least */

/* Where records are, from the variable. */
#define BESIDE    64
#define BEFORE    (-704)
#define ELSEWHERE 8192

static struct otelread_target target;
static struct otelread_snapshot snapshot;
static uint8_t *memory; /* then a page that cannot be read */
static uint8_t *slot;
static int64_t distance;

static void begin(void)
{
    memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(memory, MAP_FAILED);
    cr_assert_eq(munmap(memory + PAGE, PAGE), 0);
    memset(memory, 0xee, PAGE); /* resident */
    slot = memory + 1024;
    distance = 0;
    cr_assert_eq(otelread_target_open(&target, getpid()), 0);
    target.only_resident = true;
}

static void end(void)
{
    otelread_target_close(&target);
    munmap(memory, PAGE);
}

TestSuite(reader_snapshot, .init = begin, .fini = end);

/* A record of that span, with so many bytes of attributes. */
static void record_put(uint8_t *at, uint8_t span, uint16_t attrs_size)
{
    struct otelctx_record_head head = {.valid = 1, .attrs_size = attrs_size};

    memset(head.span_id, span, sizeof(head.span_id));
    memcpy(at, &head, sizeof(head));
    memset(at + sizeof(head), span, attrs_size);
}

static void slot_put(const uint8_t *record)
{
    memcpy(slot, &record, sizeof(record));
}

static void take(void)
{
    const struct otelread_symbol symbol = {.access = OTELREAD_LOCAL_EXEC};
    const struct otelread_places places = {.tls = &symbol,
                                           .distance = &distance};

    otelread_snapshot_take(&snapshot, &target, &places, (uintptr_t)slot, 0);
    cr_assert_eq(snapshot.slot_error, 0);
    cr_assert_eq(target.missing.error, 0);
}

static void expect_record(const uint8_t *at, uint8_t span, size_t attrs_size)
{
    uint8_t attrs[OTELREAD_ATTRS_MAX] = {0};

    memset(attrs, span, attrs_size);
    cr_expect_eq(snapshot.record.address, (uintptr_t)at);
    cr_expect_eq(snapshot.head_error, 0);
    cr_expect_eq(snapshot.record.head.span_id[0], span);
    cr_expect_not(snapshot.record.attrs_missing);
    cr_expect_arr_eq(snapshot.record.attrs, attrs, sizeof(attrs));
}

/* The first thread with a record tells where those of others may be. */
static void learn(int64_t from_slot)
{
    record_put(slot + from_slot, 1, 40);
    slot_put(slot + from_slot);
    take();
    expect_record(slot + from_slot, 1, 40);
    cr_assert_eq(distance, from_slot);
}

Test(reader_snapshot, a_record_beside_the_variable_is_read_with_it)
{
    const int64_t distances[] = {BESIDE, BEFORE, 8, -650, ELSEWHERE};

    for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
        uint8_t *const at = slot + distances[i];

        learn(distances[i]);
        record_put(at, 2, 300);
        take();
        expect_record(at, 2, 300);
    }
}

Test(reader_snapshot, the_variable_decides_not_where_the_last_record_was)
{
    learn(BESIDE);
    record_put(slot + ELSEWHERE, 3, 20);
    slot_put(slot + ELSEWHERE);
    take();
    expect_record(slot + ELSEWHERE, 3, 20);

    learn(BESIDE);
    slot_put(NULL);
    take();
    cr_expect_eq(snapshot.record.address, 0);
    cr_expect_eq(snapshot.record.head.valid, 0);
    cr_expect_eq(distance, BESIDE);
}

Test(reader_snapshot, an_invalid_record_has_no_attributes)
{
    learn(BESIDE);
    memset(slot + BESIDE + offsetof(struct otelctx_record_head, valid), 0, 1);
    take();
    expect_record(slot + BESIDE, 1, 0);
}

Test(reader_snapshot, a_record_may_end_where_memory_does)
{
    const size_t size = sizeof(struct otelctx_record_head) + 10;
    uint8_t *const last = memory + PAGE - size;

    for (int i = 0; i < 2; i++) {
        slot = i == 0 ? memory : last - BESIDE;
        record_put(last, 4, 10);
        slot_put(last);
        take();
        take();
        expect_record(last, 4, 10);
    }
}

Test(reader_snapshot, what_is_not_resident_is_still_missed)
{
    uint8_t *const fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct otelread_symbol symbol = {.access = OTELREAD_LOCAL_EXEC};
    const struct otelread_places places = {.tls = &symbol,
                                           .distance = &distance};

    learn(BESIDE);
    slot_put(fresh);
    otelread_snapshot_take(&snapshot, &target, &places, (uintptr_t)slot, 0);
    cr_expect_eq(snapshot.head_error, -EAGAIN);
    cr_expect_eq(target.missing.error, -EAGAIN);
    cr_expect_eq(target.missing.address, (uintptr_t)fresh);
    munmap(fresh, PAGE);
}
