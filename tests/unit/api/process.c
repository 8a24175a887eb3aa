/* SPDX-License-Identifier: Apache-2.0 */
#define OTELCTX_LINK
#include "shim/otelctx.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>

#include "shim/process/versions.h"
#include "tests/support/own_context.h"

static bool is_published(void)
{
    return own_context();
}

static void *set_in_thread(void *unused)
{
    cr_expect_eq(otelctx_process_set("other", "thread"), 0);
    return unused;
}

/* Another thread gets -EBUSY, after a second, while the lock is taken. */
static void expect_unlocked(void)
{
    pthread_t other;

    cr_assert_eq(pthread_create(&other, NULL, set_in_thread, NULL), 0);
    cr_assert_eq(pthread_join(other, NULL), 0);
}

Test(abi, is_the_version_of_the_header)
{
    cr_expect_eq(otelctx_abi(), OTELCTX_ABI);
}

Test(process, call_that_fails_releases_the_lock)
{
    cr_expect_eq(otelctx_process_set(NULL, "value"), -EINVAL);
    expect_unlocked();
    cr_expect_eq(otelctx_process_set("", "value"), -EINVAL);
    expect_unlocked();
    cr_expect_eq(otelctx_process_set_extra("threadlocal.x", "value"), -EPERM);
    expect_unlocked();
    cr_expect_eq(otelctx_key(NULL), -EINVAL);
    expect_unlocked();
}

Test(process, call_that_succeeds_releases_the_lock)
{
    cr_expect_eq(otelctx_process_set("key", "value"), 0);
    expect_unlocked();
    cr_expect_eq(otelctx_process_publish(), 0);
    expect_unlocked();
    cr_expect_eq(otelctx_key("key"), 0);
    expect_unlocked();
    cr_expect_eq(otelctx_process_drop(), 0);
    expect_unlocked();
}

Test(process, is_published_from_publish_to_drop)
{
    cr_expect_eq(otelctx_process_drop(), 0); /* what the start published */
    cr_expect_not(is_published());
    cr_expect_eq(otelctx_process_set("key", "value"), 0);
    cr_expect_not(is_published());
    cr_expect_eq(otelctx_process_publish(), 0);
    cr_expect(is_published());
    cr_expect_eq(otelctx_process_drop(), 0);
    cr_expect_not(is_published());
}

static bool has(enum otelctx_place place, const char *key)
{
    return otelctx_payload_has(otelctx_versions_staged(), place,
                               otelctx_span_from(key));
}

Test(process, attribute_is_staged_where_the_call_says)
{
    cr_expect_eq(otelctx_process_set("resource", "value"), 0);
    cr_expect_eq(otelctx_process_set_extra("extra", "value"), 0);
    cr_expect(has(OTELCTX_RESOURCE, "resource"));
    cr_expect(has(OTELCTX_EXTRA, "extra"));
    cr_expect_not(has(OTELCTX_EXTRA, "resource"));
    cr_expect_not(has(OTELCTX_RESOURCE, "extra"));
}

Test(process, attribute_without_a_value_is_removed)
{
    cr_expect_eq(otelctx_process_set("key", ""), 0);
    cr_expect(has(OTELCTX_RESOURCE, "key"));
    cr_expect_eq(otelctx_process_set("key", NULL), 0);
    cr_expect_not(has(OTELCTX_RESOURCE, "key"));
}

Test(key, has_the_same_index_each_time)
{
    cr_expect_eq(otelctx_key("a"), 0);
    cr_expect_eq(otelctx_key("b"), 1);
    cr_expect_eq(otelctx_key("a"), 0);
}
