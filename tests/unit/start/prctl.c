/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/prctl.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "shim/process/context.h"
#include "shim/process/filter.h"
#include "shim/process/guard.h"
#include "shim/process/rival.h"
#include "shim/process/state.h"
#include "tests/e2e/hosts/publisher.h"
#include "tests/support/child.h"
#include "tests/support/filter.h"
#include "tests/support/own_context.h"
#include "tests/unit/start/prctl_module.h"

/* This program calls the shim's prctl, and next_prctl is the library that comes
 * after it: see prctl_module.c. */

TestSuite(prctl, .timeout = 60);
TestSuite(publisher, .timeout = 60);

static void publish(void)
{
    otelctx_prctl_start();
    otelctx_guard_start(true);
    otelctx_rival_start(true, otelctx_prctl_is_hosts());
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_assert_eq(otelctx_guard_publish_at_start(), 0);
    otelctx_guard_leave();
    cr_assert(own_context());
}

/* ---- Whatever is asked for is passed on ---------------------------------- */

Test(prctl, of_the_shim_is_the_one_that_the_program_calls)
{
    cr_expect(otelctx_prctl_is_hosts());
}

static void expect_that_it_works(void)
{
    char name[16] = "";

    errno = 78;
    cr_expect_eq(prctl(PR_SET_NAME, "renamed", 0, 0, 0), 0);
    cr_expect_eq(prctl(PR_GET_NAME, name, 0, 0, 0), 0);
    cr_expect_str_eq(name, "renamed");
    cr_expect_eq(prctl(PR_GET_DUMPABLE), 1);
    cr_expect_eq(errno, 78);
    cr_expect_eq(prctl(0x7fffffff, 0, 0, 0, 0), -1);
    cr_expect_eq(errno, EINVAL);
}

Test(prctl, works_past_libc_before_it_knows_the_next_one)
{
    expect_that_it_works();
    cr_expect_eq(next_prctl_calls, 0);
}

Test(prctl, works_through_the_next_one)
{
    otelctx_prctl_start();
    expect_that_it_works();
    cr_expect_eq(next_prctl_calls, 4);
}

Test(prctl, passes_all_four_arguments_on)
{
    otelctx_prctl_start();
    (void)prctl(0x7fffffff, 1UL, ~2UL, 3UL, ~4UL);
    cr_expect_eq(next_prctl_option, 0x7fffffff);
    cr_expect_eq(next_prctl_args[0], 1);
    cr_expect_eq(next_prctl_args[1], ~2UL);
    cr_expect_eq(next_prctl_args[2], 3);
    cr_expect_eq(next_prctl_args[3], ~4UL);
}

/* Kernels that cannot name mappings do not read the name. */
Test(prctl, reads_no_name_that_cannot_be_read)
{
    const size_t page = (size_t)getpagesize();
    char *const at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(at, MAP_FAILED);
    cr_assert_eq(munmap(at + page, page), 0);
    otelctx_prctl_start();
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, page, NULL);
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, page, (char *)1);
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, page, (char *)-1);
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, page, at + page);
    for (size_t size = 1; size <= strlen(OTELCTX_MAPPING_NAME); size++) {
        memcpy(at + page - size, OTELCTX_MAPPING_NAME, size);
        (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, page,
                    at + page - size);
    }
    cr_expect_eq(next_prctl_calls, 4 + strlen(OTELCTX_MAPPING_NAME));
}

/* ---- Another publisher --------------------------------------------------- */

static unsigned contexts_when_called;
static const void *context_when_called;

static void look(void)
{
    const struct otelctx_header *last = NULL;

    contexts_when_called = own_contexts(&last);
    context_when_called = last;
}

/* Readers look at that very moment. */
Test(publisher, finds_ours_withdrawn_when_its_mapping_is_named)
{
    publish();
    next_prctl_look = look;
    cr_assert_eq(publisher_does("other", "libc"), 0);
    cr_expect_eq(contexts_when_called, 1);
    cr_expect_eq(context_when_called, publisher_at);
    cr_expect_eq(own_context(), publisher_at);
    cr_expect_eq(otelctx_context_rival(), publisher_at);
}

Test(publisher, that_comes_first_is_seen_before_we_publish)
{
    otelctx_prctl_start();
    otelctx_guard_start(true);
    cr_assert_eq(publisher_does("other", "libc"), 0);
    otelctx_rival_start(true, otelctx_prctl_is_hosts());
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_expect_eq(otelctx_guard_publish_at_start(), -ESTALE);
    cr_expect_eq(own_context(), publisher_at);
}

Test(publisher, of_a_name_alone_changes_nothing)
{
    const struct otelctx_header *before;

    publish();
    before = own_context();
    cr_assert_eq(publisher_does("stray", "libc"), 0);
    cr_expect_eq(own_context(), before);
}

/* As SDKs name parts of their heaps. */
Test(publisher, of_another_name_changes_nothing)
{
    const struct otelctx_header *before;

    publish();
    before = own_context();
    cr_assert_eq(publisher_other(true), 0); /* a context, but not so named */
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, publisher_at, 4096, "heap");
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, publisher_at, 4096,
                OTELCTX_MAPPING_NAME "2");
    cr_expect_null(otelctx_context_rival());
    cr_expect_eq(otelctx_state_publication()->mapping.at, (const void *)before);
}

Test(publisher, that_takes_our_mapping_over_keeps_it)
{
    publish();
    cr_assert_eq(publisher_does("repoint", "libc"), 0);
    cr_expect_eq(own_context(), publisher_at);
    cr_expect_eq(otelctx_context_rival(), publisher_at);
    cr_expect_eq(publisher_does("theirs", NULL), 0);
}

Test(publisher, that_was_not_named_leaves_us_our_context)
{
    publish();
    next_prctl_refuses = true;
    /* Without a file, nobody finds the mapping. */
    cr_assert_eq(publisher_does("vain", "libc"), 0);
    cr_expect_null(otelctx_context_rival());
    cr_expect(own_context());
    cr_expect_neq(own_context(), publisher_at);
}

/* A signal handler of the shim's own caller. */
Test(publisher, that_comes_in_the_middle_of_a_call_is_seen_when_that_ends)
{
    publish();
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_assert_eq(publisher_does("other", "libc"), 0);
    otelctx_guard_leave();
    cr_expect_eq(own_context(), publisher_at);
}

/* ---- Filters, clocks and forks ------------------------------------------- */

/* On top of one from before the start, which the kernel would tell of. */
Test(prctl, notices_a_filter)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {1, &allow};

    cr_assert_eq(filter_call(-1, SECCOMP_RET_ALLOW), 0);
    otelctx_filter_start();
    otelctx_prctl_start();
    (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL);
    cr_expect_not(otelctx_filter_came(), "it was refused");
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    cr_expect(otelctx_filter_came());
}

#ifdef __x86_64__
Test(prctl, notices_that_the_clock_of_the_vdso_kills)
{
    publish();
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_assert_eq(otelctx_guard_publish_and_leave(), 0); /* finds the vDSO */
    cr_assert_eq(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0), 0);
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_expect_eq(otelctx_guard_publish_and_leave(), 0);
    cr_assert_eq(prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0), 0);
}
#endif

static bool has_a_context_after_its_first_prctl(void)
{
    const struct otelctx_header *last;

    if (own_contexts(&last) != 0)
        return false;
    (void)prctl(PR_GET_DUMPABLE);
    return own_context();
}

Test(prctl, gives_a_child_past_libc_its_context)
{
    publish();
    cr_expect(in_raw_child(has_a_context_after_its_first_prctl));
}
