/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/effort.h"

#include "demo/reader/os/clock.h"
#include "demo/reader/os/helper.h"

#include <criterion/criterion.h>
#include <unistd.h>

#define MS     UINT64_C(1000000)
#define LIMIT  (10000 * MS)
#define SLEEPS (50 * MS)

static struct otelread_effort effort;

static void begin(void)
{
    otelread_effort_begin(&effort);
}

TestSuite(reader_effort, .init = begin);

static void work(void)
{
    const uint64_t end_ns = otelread_cpu_ns() + 5 * MS;

    while (otelread_cpu_ns() < end_ns)
        ;
}

Test(reader_effort, a_look_takes_a_twentieth_of_a_processor)
{
    work();
    cr_expect_geq(otelread_effort_pause_ns(&effort, 0), 100 * MS);
}

static int helper_work(struct otelread_target *target, const void *request,
                       void *answer)
{
    (void)target;
    (void)request;
    (void)answer;
    work();
    return 0;
}

Test(reader_effort, the_helper_works_for_the_look)
{
    struct otelread_target target = {.pid = getpid()};
    char answer;

    cr_assert_eq(otelread_helper_ask(&target, helper_work, NULL, 0, &answer, 1),
                 0);
    cr_expect_geq(otelread_effort_pause_ns(&effort, 0), 100 * MS);
    otelread_helper_end();
}

Test(reader_effort, time_that_passes_without_work_counts_once)
{
    const uint64_t start_ns = otelread_monotonic_ns();

    otelread_sleep_ns(SLEEPS);
    const uint64_t pause_ns = otelread_effort_pause_ns(&effort, 0);
    cr_expect_geq(pause_ns, SLEEPS);
    cr_expect_lt(pause_ns, 10 * (otelread_monotonic_ns() - start_ns));
}

Test(reader_effort, a_thread_stands_still_for_a_twentieth_at_most)
{
    cr_expect_geq(otelread_effort_pause_ns(&effort, 7 * MS), 140 * MS);
}

Test(reader_effort, nobody_is_blind_for_longer_than_the_limit)
{
    effort.start_ns -= 2 * LIMIT;
    cr_expect_eq(otelread_effort_pause_ns(&effort, 0), LIMIT);
    cr_expect_eq(otelread_effort_pause_ns(&effort, LIMIT), LIMIT);
}
