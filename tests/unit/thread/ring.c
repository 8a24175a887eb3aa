/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/ring.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct otelctx_numbers one = {1, 2, 3}, other = {4, 5, 6}, none;

static struct otelctx_ring_thread self;

static void open_ring(uint32_t capacity)
{
    struct otelctx_failure failure;

    cr_assert_eq(otelctx_ring_open(capacity, (size_t)getpagesize(), &failure),
                 0);
}

static uint32_t own_id(void)
{
    return (uint32_t)gettid();
}

/* Where the ring is, once the calling thread has shown something. */
static struct otelctx_ring_header *header(uint32_t capacity)
{
    cr_assert(self.slot);
    return (struct otelctx_ring_header *)(self.slot - self.id % capacity) - 1;
}

static uint64_t lock_of(uint32_t thread, uint32_t sequence)
{
    return (uint64_t)thread << 32 | sequence << 8;
}

#define EXPECT_IDS(thread, ids)                                                \
    do {                                                                       \
        struct otelctx_numbers got;                                            \
                                                                               \
        cr_expect_eq(otelctx_ring_get(thread, &got), 0);                       \
        cr_expect_eq(memcmp(&got, &(ids), sizeof(got)), 0);                    \
    } while (0)

Test(ring, begins_with_its_header)
{
    static const uint8_t zeroes[16];
    const struct otelctx_ring_header *at;

    open_ring(100);
    cr_assert(otelctx_ring_show(&self, &one));
    at = header(100);
    cr_expect_eq(at->magic, 0x4f54454c);
    cr_expect_eq(at->version, 1);
    cr_expect_eq(at->capacity, 100);
    cr_expect_eq(at->slot_size, 32);
    cr_expect_arr_eq(at->reserved, zeroes, 16);
    cr_expect_eq((uintptr_t)at % (uintptr_t)getpagesize(), 0);
}

Test(ring, has_the_slot_of_a_thread_at_its_id_modulo_the_capacity)
{
    for (uint32_t capacity = 1; capacity < 1000; capacity = capacity * 3 + 1) {
        self = (struct otelctx_ring_thread){0};
        open_ring(capacity);
        cr_assert(otelctx_ring_show(&self, &one));
        cr_expect_eq((uintptr_t)self.slot % (uintptr_t)getpagesize(),
                     32 + own_id() % capacity * 32 % (unsigned)getpagesize());
        cr_expect_eq(header(capacity)->capacity, capacity);
    }
}

Test(ring, has_sequence_number_and_thread_id_behind_in_use)
{
    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    cr_expect_eq(self.slot->lock, lock_of(own_id(), 2));
    cr_assert(otelctx_ring_show(&self, &other));
    cr_expect_eq(self.slot->lock, lock_of(own_id(), 4));
    cr_expect_eq(self.slot->trace_id_high, 4);
    cr_expect_eq(self.slot->trace_id_low, 5);
    cr_expect_eq(self.slot->span_id, 6);
}

Test(ring, counts_no_further_than_its_three_bytes)
{
    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    self.slot->lock = lock_of(own_id(), 0xfffffc);
    cr_assert(otelctx_ring_show(&self, &other));
    cr_expect_eq(self.slot->lock, lock_of(own_id(), 0xfffffe));
    cr_assert(otelctx_ring_show(&self, &one));
    cr_expect_eq(self.slot->lock, lock_of(own_id(), 0));
    EXPECT_IDS(own_id(), one);
    cr_assert(otelctx_ring_show(&self, &other));
    cr_expect_eq(self.slot->lock, lock_of(own_id(), 2));
}

/* A second thread: does it get a slot? */
static void *show_other(void *thread)
{
    const bool is_shown = otelctx_ring_show(thread, &other);

    otelctx_ring_leave(thread, 1);
    return is_shown ? thread : NULL;
}

static bool second_gets_slot(void)
{
    struct otelctx_ring_thread second = {0};
    pthread_t thread;
    void *result;

    cr_assert_eq(pthread_create(&thread, NULL, show_other, &second), 0);
    cr_assert_eq(pthread_join(thread, &result), 0);
    return result;
}

Test(ring, gives_a_slot_to_the_first_thread_that_asks_until_it_ends)
{
    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    cr_expect_not(second_gets_slot());
    EXPECT_IDS(own_id(), one);
    otelctx_ring_leave(&self, 1);
    cr_expect(second_gets_slot());
}

Test(ring, clears_the_slot_of_a_thread_that_ends)
{
    struct otelctx_ring_slot *slot;
    struct otelctx_numbers ids;

    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    slot = self.slot;
    otelctx_ring_leave(&self, 1);
    cr_expect_eq(slot->lock, lock_of(0, 4));
    cr_expect_eq(memcmp(slot, &none, sizeof(none)), 0);
    cr_expect_eq(otelctx_ring_get(own_id(), &ids), -ESRCH);
    otelctx_ring_leave(&self, 1); /* twice is no error */
    cr_expect_eq(slot->lock, lock_of(0, 4));
}

/* As in a destructor that runs after the shim's. */
Test(ring, gives_a_thread_that_has_left_its_slot_again)
{
    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    otelctx_ring_leave(&self, 1);
    cr_expect(otelctx_ring_show(&self, &other));
    EXPECT_IDS(own_id(), other);
}

/* Nobody would clear it. */
Test(ring, gives_a_thread_that_has_left_in_the_last_round_no_slot)
{
    struct otelctx_numbers ids;

    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    otelctx_ring_leave(&self, 4);
    cr_expect_not(otelctx_ring_show(&self, &other));
    cr_expect_eq(otelctx_ring_get(own_id(), &ids), -ESRCH);
}

/* As after a thread that was cancelled in the middle of a write. */
Test(ring, completes_the_write_of_a_thread_that_ends_in_the_middle)
{
    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    self.slot->lock = lock_of(own_id(), 5) | 1;
    otelctx_ring_leave(&self, 1);
    cr_expect(second_gets_slot());
    cr_assert(otelctx_ring_show(&self, &one));
    cr_expect_eq(self.slot->lock & 0x1ff, 0);
}

/* The parent's id is that of no thread of this process. */
Test(ring, takes_the_slot_of_a_thread_that_did_not_clear_it)
{
    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    self.slot->lock = lock_of((uint32_t)getppid(), 6);
    self.slot = NULL;
    cr_expect(otelctx_ring_show(&self, &other));
    EXPECT_IDS(own_id(), other);
    cr_expect_eq(self.slot->lock, lock_of(own_id(), 8));
}

Test(ring, lets_a_thread_whose_id_comes_again_start_clean)
{
    struct otelctx_ring_thread next = {0};

    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    cr_expect(otelctx_ring_show(&next, &other));
    EXPECT_IDS(own_id(), other);
    cr_expect_eq(next.slot, self.slot);
}

Test(ring, finds_no_thread_without_a_slot)
{
    struct otelctx_numbers ids = one;

    open_ring(1);
    cr_expect_eq(otelctx_ring_get(own_id(), &ids), -ESRCH);
    cr_expect_eq(otelctx_ring_get(0, &ids), -ESRCH);
    cr_assert(otelctx_ring_show(&self, &other));
    cr_expect_eq(otelctx_ring_get(0, &ids), -ESRCH);
    cr_expect_eq(otelctx_ring_get(own_id() + 1, &ids), -ESRCH);
    cr_expect_eq(otelctx_ring_get(UINT32_MAX, &ids), -ESRCH);
    cr_expect_eq(memcmp(&ids, &one, sizeof(ids)), 0);
}

Test(ring, gives_nothing_while_the_slot_is_written)
{
    struct otelctx_numbers ids = one;

    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &other));
    self.slot->lock |= 1;
    cr_expect_eq(otelctx_ring_get(own_id(), &ids), -EAGAIN);
    cr_expect_eq(memcmp(&ids, &one, sizeof(ids)), 0);
}

/* An emulator of user programs wipes no memory, and says that it does. */
Test(ring, is_new_in_a_child_that_inherits_the_memory)
{
    struct otelctx_ring_header *at;

    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    at = header(1);
    otelctx_ring_begin_child(false);
    cr_expect_eq(at->magic, 0);
    self.id = 1; /* of the parent's thread */
    cr_expect(otelctx_ring_show(&self, &other));
    cr_expect_eq(at->magic, 0x4f54454c);
    cr_expect_eq(at->version, 1);
    EXPECT_IDS(own_id(), other);
}

/* A write that a signal handler interrupted to fork goes on in the child, and
 * leaves the parent's id in the child's slot. */
Test(ring, is_new_in_a_child_that_completes_a_write_of_its_parent)
{
    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    otelctx_ring_begin_child(false);
    self.id = 1;
    self.slot->lock = lock_of(1, 2);
    cr_expect(otelctx_ring_show(&self, &other));
    cr_expect_eq(header(1)->magic, 0x4f54454c);
    EXPECT_IDS(own_id(), other);
}

Test(ring, is_none_in_a_child_that_must_be_quiet)
{
    struct otelctx_ring_header *at;

    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    at = header(1);
    otelctx_ring_begin_child(true);
    cr_expect_eq(at->magic, 0);
    cr_expect_not(otelctx_ring_show(&self, &other));
    cr_expect_eq(at->magic, 0);
}

Test(ring, shows_nothing_once_it_is_closed)
{
    static const char zeroes[64];
    struct otelctx_ring_header *at;
    struct otelctx_numbers ids;

    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    at = header(1);
    otelctx_ring_close();
    cr_expect_eq(memcmp(at, zeroes, sizeof(zeroes)), 0);
    cr_expect_not(otelctx_ring_show(&self, &other));
    cr_expect_not(second_gets_slot());
    cr_expect_eq(memcmp(at, zeroes, sizeof(zeroes)), 0);
    cr_expect_eq(otelctx_ring_get(own_id(), &ids), -ESRCH);
}

/* There madvise(2) refuses to discard the memory. */
Test(ring, is_no_ring_any_more_when_closed_in_locked_memory)
{
    struct otelctx_ring_header *at;

    open_ring(1);
    cr_assert(otelctx_ring_show(&self, &one));
    at = header(1);
    cr_assert_eq(mlock(at, 64), 0);
    otelctx_ring_close();
    cr_expect_eq(at->magic, 0);
    cr_expect_not(otelctx_ring_show(&self, &other));
}
