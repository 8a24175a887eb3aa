/* SPDX-License-Identifier: Apache-2.0 */

/* Rings in this process, with made-up lines of its maps. */
#include "demo/reader/report/ring.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE  ((size_t)65536) /* at least */
#define NAME  "[anon:DD_OTEL_CTX]"
#define SLOTS ((PAGE - 32) / 32)

static struct otelread_target target;
static struct otelread_ring ring;
static struct otelctx_ring_header *memory;

static void begin(void)
{
    memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(memory, MAP_FAILED);
    *memory = (struct otelctx_ring_header){0x4F54454C, 1, SLOTS, 32, {0}};
    cr_assert_eq(otelread_target_open(&target, getpid()), 0);
}

static void end(void)
{
    otelread_target_close(&target);
    munmap(memory, PAGE);
}

TestSuite(reader_ring, .init = begin, .fini = end);

static bool take(const char *name, const char *permissions)
{
    struct otelread_maps_line line = {
        .start = (uintptr_t)memory,
        .end = (uintptr_t)memory + PAGE,
        .name = name,
        .name_size = strlen(name),
    };

    memcpy(line.permissions, permissions, 5);
    return otelread_ring_take(&ring, &target, &line);
}

Test(reader_ring, a_ring_is_found_by_its_name_or_else_by_its_header)
{
    cr_assert(take(NAME, "rw-p"));
    cr_expect_eq(ring.status, OTELREAD_RING_OK, "%s", ring.message);
    cr_expect(ring.named);
    cr_expect_eq(ring.header.capacity, SLOTS);
    cr_assert(take("", "rw-p"));
    cr_expect_eq(ring.status, OTELREAD_RING_OK, "%s", ring.message);
    cr_expect_not(ring.named);
}

Test(reader_ring, other_mappings_are_no_rings)
{
    cr_expect_not(take("[heap]", "rw-p"));
    cr_expect_not(take("/memfd:DD_OTEL_CTX (deleted)", "rw-p"));
    cr_expect_not(take("[anon:DD_OTEL_CTX2]", "rw-p"));
    cr_expect_not(take("", "r--p"));
    memory->magic = 0;
    cr_expect_not(take("", "rw-p"));
}

/* With the name the mapping is an invalid ring; without it, no ring. */
static void expect_invalid(const char *message)
{
    cr_assert(take(NAME, "rw-p"));
    cr_expect_eq(ring.status, OTELREAD_RING_INVALID);
    cr_expect_str_eq(ring.message, message);
}

Test(reader_ring, a_header_of_another_kind_is_invalid)
{
    memory->slot_size = 64;
    expect_invalid("its slots have 64 bytes, not 32");
    cr_expect_not(take("", "rw-p"));
    memory->version = 2;
    expect_invalid("its version is 2, only 1 is supported");
    cr_expect_not(take("", "rw-p"));
    memory->magic = 0x4c45544f;
    expect_invalid("its magic number is 0x4c45544f, not 0x4f54454c");
}

Test(reader_ring, a_capacity_must_fit_into_the_mapping)
{
    memory->capacity = SLOTS + 1;
    expect_invalid("its capacity is 2048 slots, more than the 2047 that its "
                   "mapping of 65536 bytes has");
    memory->capacity = UINT32_MAX;
    cr_assert(take("", "rw-p"));
    cr_expect_eq(ring.status, OTELREAD_RING_INVALID);
    memory->capacity = 0;
    expect_invalid("its capacity is 0");
}

Test(reader_ring, a_header_that_cannot_be_read_is_reported_if_it_has_a_name)
{
    struct otelctx_ring_header *const own = memory;

    memory = (struct otelctx_ring_header *)PAGE; /* never mapped */
    expect_invalid("its header cannot be read");
    cr_expect_not(take("", "rw-p"));
    memory = own;
}

Test(reader_ring, a_slot_is_read_by_its_index)
{
    struct otelctx_ring_slot *const slots =
        (struct otelctx_ring_slot *)(memory + 1);
    struct otelctx_ring_slot slot;

    cr_assert(take(NAME, "rw-p"));
    cr_expect_eq(otelread_ring_index(&ring, SLOTS + 3), 3);
    slots[3] = (struct otelctx_ring_slot){1, 2, 3, UINT64_C(7) << 32 | 0x200};
    cr_assert_eq(otelread_ring_read(&ring, &target, 3, &slot), 0);
    cr_expect_eq(memcmp(&slot, &slots[3], sizeof(slot)), 0);
    slots[3].lock |= 1;
    cr_expect_eq(otelread_ring_read(&ring, &target, 3, &slot), 1);
    slots[3].lock = 0x300;
    cr_expect_eq(otelread_ring_read(&ring, &target, 3, &slot), 1);
}

Test(reader_ring, each_status_has_a_name)
{
    cr_expect_str_eq(otelread_ring_status_name(OTELREAD_RING_NONE), "none");
    cr_expect_str_eq(otelread_ring_status_name(OTELREAD_RING_OK), "ok");
    cr_expect_str_eq(otelread_ring_status_name(OTELREAD_RING_INVALID),
                     "invalid");
    cr_expect_str_eq(otelread_ring_status_name(OTELREAD_RING_NO_PERMISSION),
                     "no_permission");
    cr_expect_str_eq(otelread_ring_status_name(OTELREAD_RING_BUSY), "busy");
    cr_expect_str_eq(otelread_ring_status_name(OTELREAD_RING_ERROR), "error");
}
