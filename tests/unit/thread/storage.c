/* SPDX-License-Identifier: Apache-2.0 */

/* meson.build turns all storages on. */

#define OTELCTX_LINK
#include "shim/thread/storage.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "shim/otelctx.h"
#include "shim/process/guard.h"
#include "shim/thread/profiler.h"
#include "shim/thread/ring.h"

#define TRACEPARENT "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static int attach(void)
{
    return otelctx_attach_traceparent(TRACEPARENT, strlen(TRACEPARENT));
}

static struct otelctx_ring_slot *slot(void)
{
    return otelctx_thread_variables().self->ring.slot;
}

/* The ids of a thread in the ring. `got` is the result of otelctx_get_by_tid();
 * if it is not 0, *out must be unchanged. */
static int got;

static struct otelctx_ids ids_by(pid_t tid)
{
    struct otelctx_ids out, before;

    memset(&before, 0xa5, sizeof(before));
    out = before;
    errno = 77;
    got = otelctx_get_by_tid(tid, &out);
    cr_expect_eq(errno, 77);
    if (got)
        cr_expect_eq(memcmp(&out, &before, sizeof(out)), 0);
    return out;
}

#define EXPECT_BY(tid, result)                                                 \
    do {                                                                       \
        (void)ids_by(tid);                                                     \
        cr_expect_eq(got, result, "%d", got);                                  \
    } while (0)

Test(storage, is_the_configured_one)
{
    cr_expect_eq(otelctx_storage(),
                 OTELCTX_TLS | OTELCTX_RING | OTELCTX_PROFILER);
}

Test(storage, has_the_ids_as_numbers_of_their_digits)
{
    cr_assert_eq(attach(), 0);
    cr_expect_eq(slot()->trace_id_high, 0x4bf92f3577b34da6);
    cr_expect_eq(slot()->trace_id_low, 0xa3ce929d0e0e4736);
    cr_expect_eq(slot()->span_id, 0x00f067aa0ba902b7);
    cr_expect_eq(context_tls_v1.span_id, 0x00f067aa0ba902b7);
    cr_expect_eq(context_tls_v1.root_span_id, 0xa3ce929d0e0e4736);
    cr_expect_eq(
        context_tls_v1.checksum,
        otelctx_profiler_checksum(0x00f067aa0ba902b7, 0xa3ce929d0e0e4736));
}

Test(storage, has_nothing_without_a_trace)
{
    static const uint8_t zero[16];

    cr_assert_eq(attach(), 0);
    cr_assert_eq(otelctx_attach(zero, zero, 1), 0);
    EXPECT_BY(gettid(), -ENOENT);
    cr_expect_eq(context_tls_v1.checksum, UINT64_MAX);
}

Test(get_by_tid, gives_the_ids_that_were_attached)
{
    struct otelctx_ids ids, own;

    cr_assert_eq(attach(), 0);
    ids = ids_by(gettid());
    cr_expect_eq(got, 0);
    cr_assert_eq(otelctx_get(&own), 0);
    cr_expect_arr_eq(ids.trace_id, own.trace_id, 16);
    cr_expect_arr_eq(ids.span_id, own.span_id, 8);
    cr_expect_eq(ids.trace_flags, 0);
}

Test(get_by_tid, distinguishes_no_slot_no_context_and_a_write)
{
    EXPECT_BY(gettid(), -ESRCH);
    EXPECT_BY(0, -ESRCH);
    EXPECT_BY(-1, -ESRCH);
    cr_assert_eq(attach(), 0);
    EXPECT_BY(gettid(), 0);
    slot()->lock |= 1;
    EXPECT_BY(gettid(), -EAGAIN);
    slot()->lock &= ~UINT64_C(1);
    cr_assert_eq(otelctx_detach(), 0);
    EXPECT_BY(gettid(), -ENOENT);
}

Test(attach64, is_a_trace_whose_upper_half_is_0)
{
    static const uint8_t trace[16] = {[8] = 1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t span[8] = {0x11, 0x12, 0x13, 0x14,
                                    0x15, 0x16, 0x17, 0x18};
    struct otelctx_ids ids;

    cr_assert_eq(otelctx_attach64(0x1112131415161718, 0x0102030405060708), 0);
    cr_assert_eq(otelctx_get(&ids), 0);
    cr_expect_arr_eq(ids.trace_id, trace, 16);
    cr_expect_arr_eq(ids.span_id, span, 8);
    cr_expect_eq(slot()->trace_id_high, 0);
    cr_expect_eq(slot()->trace_id_low, 0x0102030405060708);
    cr_expect_eq(context_tls_v1.root_span_id, 0x0102030405060708);
    cr_expect_eq(otelctx_attach64(0, 1), -EINVAL);
    cr_expect_eq(otelctx_attach64(1, 0), -EINVAL);
    cr_expect_eq(otelctx_attach64(0, 0), 0);
}

Test(tag, is_one_of_ten)
{
    cr_expect_eq(otelctx_tag(9, 42), 0);
    cr_expect_eq(context_tls_v1.tags[9], 42);
    cr_expect_eq(otelctx_tag(10, 42), -EINVAL);
    cr_assert_eq(attach(), 0);
    cr_assert_eq(otelctx_detach(), 0);
    cr_expect_eq(context_tls_v1.tags[9], 42);
}

/* ---- Threads that end ---------------------------------------------------- */

/* Returns NULL if a thread that ran this has no slot when it has ended. */
static void *slot_is_left_after(void *(*run)(void *))
{
    pthread_t thread;
    pid_t tid;

    cr_assert_eq(pthread_create(&thread, NULL, run, &tid), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    (void)ids_by(tid);
    return got == -ESRCH ? NULL : &got;
}

static void *attach_and_end(void *tid)
{
    *(pid_t *)tid = gettid();
    cr_assert_eq(attach(), 0);
    EXPECT_BY(gettid(), 0);
    return NULL;
}

Test(thread_that_ends, clears_its_slot)
{
    cr_expect_null(slot_is_left_after(attach_and_end));
}

static pthread_key_t late_key;

/* In each round of destructors. */
static void attach_late(void *value)
{
    (void)pthread_setspecific(late_key, value);
    (void)attach();
}

static void *attach_at_the_end(void *tid)
{
    pthread_setspecific(late_key, tid);
    return attach_and_end(tid);
}

/* Later keys have their destructors called later. */
Test(thread_that_ends, clears_its_slot_that_a_late_destructor_took_again)
{
    cr_assert_eq(pthread_key_create(&late_key, attach_late), 0);
    cr_expect_null(slot_is_left_after(attach_at_the_end));
}

/* ---- Close --------------------------------------------------------------- */

static void expect_all_off(void)
{
    cr_expect_eq(otelctx_storage(), 0);
    cr_expect_null(otel_thread_ctx_v1);
    cr_expect_eq(context_tls_v1.span_id, 0);
    cr_expect_eq(context_tls_v1.root_span_id, 0);
}

Test(close, turns_everything_off)
{
    static const uint8_t id[16] = {1};
    static struct otelctx_record record;
    struct otelctx_record *const odd =
        (struct otelctx_record *)(void *)((char *)&record + 1);
    struct otelctx_ids ids;

    cr_assert_eq(attach(), 0);
    cr_assert_eq(otelctx_storage_close(), 0);
    expect_all_off();
    cr_expect_eq(attach(), -EOPNOTSUPP);
    cr_expect_eq(otelctx_attach64(1, 2), -EOPNOTSUPP);
    cr_expect_eq(otelctx_attach_with(id, id, 1, NULL, 0), -EOPNOTSUPP);
    cr_expect_eq(otelctx_detach(), -EOPNOTSUPP);
    cr_expect_eq(otelctx_get(&ids), -EOPNOTSUPP);
    cr_expect_eq(otelctx_swap(NULL, NULL), -EOPNOTSUPP);
    cr_expect_eq(otelctx_tag(0, 1), -EOPNOTSUPP);
    cr_expect_eq(otelctx_key("key"), -EOPNOTSUPP);
    cr_expect_eq(otelctx_attr(0, "x", 1), -EOPNOTSUPP);
    cr_expect_eq(otelctx_attr_unset(0), -EOPNOTSUPP);
    cr_expect_eq(otelctx_record_init(&record, id, id, 1), -EOPNOTSUPP);
    cr_expect_eq(otelctx_record_attr(&record, 0, "x", 1), -EOPNOTSUPP);
    EXPECT_BY(gettid(), -EOPNOTSUPP);
    cr_expect_null(otelctx_pin());
    /* Whatever the arguments. */
    cr_expect_eq(otelctx_attach64(1, 0), -EOPNOTSUPP);
    cr_expect_eq(otelctx_attach_traceparent("", 0), -EOPNOTSUPP);
    cr_expect_eq(otelctx_attach_with(id, (const uint8_t[8]){0}, 1, NULL, 0),
                 -EOPNOTSUPP);
    cr_expect_eq(otelctx_swap(odd, NULL), -EOPNOTSUPP);
    cr_expect_eq(otelctx_record_init(odd, id, id, 1), -EOPNOTSUPP);
    cr_expect_eq(otelctx_record_attr(odd, 0, "x", 1), -EOPNOTSUPP);
    cr_expect_eq(otelctx_tag(99, 1), -EOPNOTSUPP);
    cr_expect_eq(otelctx_key(NULL), -EOPNOTSUPP);
    expect_all_off();
    cr_expect_eq(otelctx_storage_close(), 0, "twice is no error");
}

/* The look of start/watch.h may come after the close. */
Test(close, keeps_the_fast_paths_off)
{
    otelctx_thread_use_storage(OTELCTX_STORAGE_TLS);
    otelctx_storage_bits = OTELCTX_STORAGE_TLS;
    otelctx_storage_cache_tls_offsets();
    cr_assert_eq(attach(), 0);
    cr_assert_neq(otelctx_tls_offsets.block, 0);
    cr_assert_eq(otelctx_storage_close(), 0);
    otelctx_storage_cache_tls_offsets();
    cr_expect_eq(otelctx_tls_offsets.block, 0);
    cr_expect_eq(attach(), -EOPNOTSUPP);
    expect_all_off();
}

static pthread_barrier_t barrier;

static void *attach_and_see_close(void *unused)
{
    cr_assert_eq(attach(), 0);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    cr_expect_neq(context_tls_v1.span_id, 0);
    cr_expect_eq(otelctx_detach(), -EOPNOTSUPP);
    expect_all_off();
    return unused;
}

Test(close, detaches_the_context_of_another_thread_at_its_next_call)
{
    pthread_t thread;

    cr_assert_eq(pthread_barrier_init(&barrier, NULL, 2), 0);
    cr_assert_eq(pthread_create(&thread, NULL, attach_and_see_close, NULL), 0);
    pthread_barrier_wait(&barrier);
    cr_assert_eq(otelctx_storage_close(), 0);
    pthread_barrier_wait(&barrier);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* As in a signal handler that interrupted a process call. */
Test(close, that_is_refused_has_changed_nothing)
{
    cr_assert_eq(attach(), 0);
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_expect_eq(otelctx_storage_close(), -EBUSY);
    otelctx_guard_leave();
    cr_expect_eq(otelctx_storage(),
                 OTELCTX_TLS | OTELCTX_RING | OTELCTX_PROFILER);
    EXPECT_BY(gettid(), 0);
    cr_expect_eq(otelctx_storage_close(), 0);
    expect_all_off();
}
