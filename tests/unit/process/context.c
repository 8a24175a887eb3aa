/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/context.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/process/state.h"
#include "shim/process/versions.h"
#include "tests/support/filter.h"
#include "tests/support/own_context.h"

static char many[OTELCTX_PAYLOAD_MAX]; /* "xxx..." */

static void begin(void)
{
    memset(many, 'x', sizeof(many));
    cr_assert_eq(otelctx_state_lock(), 0);
}

TestSuite(context, .init = begin);
TestSuite(key, .init = begin);
TestSuite(rival, .init = begin);

static int stage(const char *key, const char *value)
{
    cr_assert_eq(otelctx_payload_set(otelctx_versions_edit(), OTELCTX_RESOURCE,
                                     otelctx_span_from(key),
                                     otelctx_span_from(value)),
                 0);
    return otelctx_context_stage();
}

/* Publish one attribute, n. */
static void publish(const char *value)
{
    cr_assert_eq(stage("n", value), 0);
    cr_assert_eq(otelctx_context_publish(), 0);
    cr_assert(own_context_has("n", value));
}

static int key(const char *name)
{
    return otelctx_context_key(otelctx_span_from(name));
}

static unsigned contexts(void)
{
    const struct otelctx_header *last;

    return own_contexts(&last);
}

/* As a system does that has neither memfds nor memory. */
static void refuse_memory(void)
{
    cr_assert_eq(filter_call(SYS_memfd_create, SECCOMP_RET_ERRNO | ENOSYS), 0);
    cr_assert_eq(filter_call(SYS_mmap, SECCOMP_RET_ERRNO | ENOMEM), 0);
}

/* ---- Publishing ---------------------------------------------------------- */

Test(context, that_is_staged_is_not_published)
{
    cr_expect_eq(stage("n", "1"), 0);
    cr_expect_eq(contexts(), 0);
    cr_expect_not(otelctx_context_is_shown());
}

Test(context, that_is_published_is_the_staged_one)
{
    publish("1");
    cr_expect(otelctx_context_is_shown());
    cr_expect_eq(stage("n", "2"), 0);
    cr_expect(own_context_has("n", "1"));
    cr_expect_eq(otelctx_context_publish(), 0);
    cr_expect(own_context_has("n", "2"));
    cr_expect_eq(contexts(), 1);
}

Test(context, has_a_service_name_though_nothing_was_ever_staged)
{
    static const char name[] = "\n\x0cservice.name\x12";

    cr_expect_eq(otelctx_context_publish(), 0);
    cr_expect(own_context_holds(name, sizeof(name) - 1));
}

Test(context, is_as_long_as_its_size_says)
{
    cr_assert_eq(key("http.route"), 0);
    publish("1");
    cr_expect_eq(otelctx_context_size(), own_context()->payload_size);
}

Test(context, without_room_for_the_service_name_is_not_staged)
{
    struct otelctx_payload *const payload = otelctx_versions_edit();
    size_t size = sizeof(many);

    while (otelctx_payload_set(payload, OTELCTX_RESOURCE, OTELCTX_SPAN("x"),
                               (struct otelctx_span){many, size}))
        size--;
    cr_expect_eq(otelctx_context_stage(), -ENOSPC);
    cr_expect_not(otelctx_payload_has(otelctx_versions_staged(),
                                      OTELCTX_RESOURCE, OTELCTX_SPAN("x")));
}

Test(context, that_is_dropped_is_gone_until_it_is_published)
{
    publish("1");
    otelctx_context_drop();
    cr_expect_eq(contexts(), 0);
    cr_expect_not(otelctx_context_is_shown());
    otelctx_context_catch_up();
    otelctx_context_update();
    cr_expect_eq(contexts(), 0);
    cr_expect_eq(otelctx_context_publish(), 0);
    cr_expect(own_context_has("n", "1"));
}

Test(context, that_cannot_be_published_says_why)
{
    refuse_memory();
    cr_expect_eq(otelctx_context_publish(), -ENOMEM);
    cr_expect_str_eq(otelctx_state_failure()->what, "mmap");
    cr_expect_eq(otelctx_state_failure()->err, -ENOMEM);
    cr_expect_not(otelctx_context_is_shown());
}

Test(context, that_cannot_be_published_leaves_the_one_before)
{
    struct otelctx_payload *payload;

    publish("1");
    payload = otelctx_versions_edit();
    cr_assert_eq(otelctx_payload_set(payload, OTELCTX_RESOURCE,
                                     OTELCTX_SPAN("long"),
                                     (struct otelctx_span){many, 9000}),
                 0);
    cr_assert_eq(otelctx_context_stage(), 0);
    refuse_memory();
    cr_expect_eq(otelctx_context_publish(), -ENOMEM);
    cr_expect(own_context_has("n", "1"));
    cr_expect_lt(own_context()->payload_size, 9000);
}

Test(context, that_is_updated_is_the_published_one)
{
    const struct otelctx_header *header;
    uint64_t before;

    publish("1");
    header = own_context();
    before = header->published_at_ns;
    cr_assert_eq(stage("n", "2"), 0);
    otelctx_context_update();
    cr_expect(own_context_has("n", "1"));
    cr_expect_gt(header->published_at_ns, before);
}

/* Restored by a checkpointer, the mapping is memory without a file or a name.
 */
Test(context, that_readers_no_longer_find_is_published_in_another_mapping)
{
    const struct otelctx_mapping *const m =
        &otelctx_state_publication()->mapping;
    char page[1 << 16];

    publish("1");
    cr_assert_eq(stage("n", "2"), 0);
    memcpy(page, m->at, m->size);
    cr_assert_eq(mmap(m->at, m->size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                 m->at);
    memcpy(m->at, page, m->size);
    cr_assert_eq(contexts(), 0);
    otelctx_context_renew_mapping();
    cr_expect(own_context_has("n", "1"), "it is what was published");
}

/* A child has no mapping at first: see state.h. */
Test(context, of_a_child_is_caught_up_with_unless_it_is_hidden)
{
    publish("1");
    otelctx_publication_drop(otelctx_state_publication());
    otelctx_context_catch_up();
    cr_expect(own_context_has("n", "1"));

    otelctx_publication_drop(otelctx_state_publication());
    otelctx_context_hide();
    otelctx_context_catch_up();
    cr_expect_eq(contexts(), 0);
    cr_expect_not(otelctx_context_is_shown());
}

/* ---- Keys of thread attributes ------------------------------------------- */

Test(key, has_its_index_after_readers_can_see_it)
{
    publish("1");
    cr_expect_not(otelctx_context_has_key(0));
    cr_expect_eq(key("http.route"), 0);
    cr_expect(own_context_has_key("http.route"));
    cr_expect(otelctx_context_has_key(0));
    cr_expect_eq(key("user"), 1);
    cr_expect_eq(key("http.route"), 0, "the same index each time");
    cr_expect_not(otelctx_context_has_key(2));
}

Test(key, publishes_nothing_that_was_merely_staged)
{
    publish("1");
    cr_assert_eq(stage("n", "2"), 0);
    cr_expect_eq(key("http.route"), 0);
    cr_expect(own_context_has("n", "1"));
}

Test(key, is_published_with_the_next_context_when_there_is_none)
{
    cr_expect_eq(key("http.route"), 0);
    cr_expect_eq(contexts(), 0);
    cr_expect(otelctx_context_has_key(0));
    publish("1");
    cr_expect(own_context_has_key("http.route"));
}

/* Also in what is published, when that is longer than what is staged. */
Test(key, without_room_is_not_there)
{
    size_t size = OTELCTX_PAYLOAD_MAX;

    while (otelctx_payload_set(otelctx_versions_edit(), OTELCTX_RESOURCE,
                               OTELCTX_SPAN("x"),
                               (struct otelctx_span){many, size}) ||
           otelctx_context_stage())
        size--;
    cr_assert_eq(otelctx_context_publish(), 0);
    cr_expect_eq(key("http.route"), -ENOSPC);
    cr_assert_eq(otelctx_payload_set(otelctx_versions_edit(), OTELCTX_RESOURCE,
                                     OTELCTX_SPAN("x"), OTELCTX_SPAN("y")),
                 0);
    cr_assert_eq(otelctx_context_stage(), 0);
    cr_expect_eq(key("http.route"), -ENOSPC);
    cr_expect_not(otelctx_context_has_key(0));
    cr_expect_not(own_context_has_key("http.route"));

    cr_assert_eq(otelctx_context_publish(), 0);
    cr_expect_eq(key("http.route"), 0);
}

Test(key, that_cannot_be_published_is_not_there)
{
    publish("1");
    otelctx_publication_drop(otelctx_state_publication());
    refuse_memory();
    cr_expect_eq(key("http.route"), -ENOMEM);
    cr_expect_eq(otelctx_key_map_count(&otelctx_state_key_map), 0);
    cr_expect_not(otelctx_context_has_key(0));
}

Test(key, that_is_no_text_is_refused)
{
    cr_expect_eq(key(""), -EINVAL);
    cr_expect_eq(key("\xff"), -EINVAL);
    cr_expect_not(otelctx_context_has_key(0));
}

Test(key, is_refused_by_a_schema_without_keys)
{
    cr_assert_eq(otelctx_context_set_schema(OTELCTX_SPAN("go_pprof_labels_v1")),
                 0);
    cr_expect_eq(key("http.route"), -EOPNOTSUPP);
    otelctx_context_hide_threads();
    cr_expect_eq(key("http.route"), -EOPNOTSUPP);
    publish("1");
    cr_expect_not(own_context_holds("threadlocal.", 12));
}

Test(key, that_is_forgotten_leaves_its_index_to_another_one)
{
    cr_assert_eq(key("a"), 0);
    otelctx_context_forget_keys();
    cr_expect_not(otelctx_context_has_key(0));
    cr_expect_eq(key("b"), 0);
    publish("1");
    cr_expect(own_context_has_key("b"));
    cr_expect_not(own_context_has_key("a"));
}

/* ---- Another publisher --------------------------------------------------- */

static const char other; /* an address that is not ours */

Test(rival, has_the_field_until_it_is_gone)
{
    publish("1");
    otelctx_context_yield(&other);
    cr_expect_eq(contexts(), 0);
    cr_expect(otelctx_context_has_yielded());
    cr_expect_eq(otelctx_context_rival(), &other);

    otelctx_context_return();
    cr_expect(own_context_has("n", "1"));
    cr_expect_not(otelctx_context_has_yielded());
    cr_expect_null(otelctx_context_rival());
}

Test(rival, leaves_us_what_was_to_be_published_meanwhile)
{
    publish("1");
    otelctx_context_yield(&other);
    cr_expect_eq(stage("n", "2"), 0);
    cr_expect_eq(otelctx_context_publish(), -ESTALE);
    cr_expect_eq(contexts(), 0);
    otelctx_context_catch_up();
    cr_expect_eq(contexts(), 0);
    otelctx_context_return();
    cr_expect(own_context_has("n", "2"));
}

/* Records with our indexes would be read with the rival's map. */
Test(rival, has_keys_of_its_own)
{
    publish("1");
    cr_assert_eq(key("http.route"), 0);
    otelctx_context_yield(&other);
    cr_expect_not(otelctx_context_has_key(0));
    cr_expect_eq(key("http.route"), -ESTALE);
    cr_expect_eq(key("another"), -ESTALE);
    otelctx_context_return();
    cr_expect(otelctx_context_has_key(0));
    cr_expect_eq(key("http.route"), 0);
}

Test(rival, that_took_our_mapping_over_has_it_for_good)
{
    struct otelctx_header *header;
    struct otelctx_header theirs;

    publish("1");
    header = (void *)otelctx_state_publication()->mapping.at;
    theirs = *header;
    theirs.published_at_ns++;
    theirs.payload = (uintptr_t)&other;
    *header = theirs;
    cr_assert_eq(stage("n", "2"), 0);
    cr_expect_eq(otelctx_context_publish(), -ESTALE);
    cr_expect_eq(otelctx_context_rival(), header);
    otelctx_context_drop();
    cr_expect_arr_eq((const char *)header, (const char *)&theirs,
                     sizeof(theirs));
}

Test(rival, that_names_our_mapping_keeps_it)
{
    const struct otelctx_header *header;

    publish("1");
    header = own_context();
    cr_assert(header);
    otelctx_context_yield(header);
    cr_expect_eq(own_context(), header);
    cr_expect_eq(header->payload_size, otelctx_context_size());
}

/* Past libc, and so unseen: the host must not die of it. */
Test(rival, may_have_unmapped_our_mapping)
{
    struct otelctx_publication *const p = otelctx_state_publication();

    publish("1");
    cr_assert_eq(munmap(p->mapping.at, p->mapping.size), 0);
    p->last_ns -= 1000000000; /* a second ago */
    cr_assert_eq(stage("n", "2"), 0);
    cr_expect_eq(otelctx_context_publish(), 0);
    cr_expect(own_context_has("n", "2"));
}
