/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/changes.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct otelread_changes changes;
static struct otelread_threads threads;

/* A thread in the current sample; span 0 means no context. */
static struct otelread_thread *add(pid_t tid, uint8_t span)
{
    cr_assert_eq(otelread_sample_add(&threads.sample, tid), 0);

    struct otelread_thread *const thread =
        &threads.sample.threads[threads.sample.count - 1];
    thread->status =
        span == 0 ? OTELREAD_THREAD_DETACHED : OTELREAD_THREAD_ATTACHED;
    thread->record.head.valid = 1;
    thread->record.head.trace_id[0] = span;
    thread->record.head.span_id[0] = span;
    return thread;
}

/* The changes in the sample, as "TID:STATUS "; begins the next sample. */
static const char *kept(void)
{
    static char text[256];
    size_t used = 0;

    if (!otelread_changes_keep(&changes, &threads))
        return "nothing";
    for (size_t i = 0; i < threads.sample.count; i++)
        used += (size_t)snprintf(
            text + used, sizeof(text) - used, "%s%d:%s", i > 0 ? " " : "",
            (int)threads.sample.threads[i].tid,
            otelread_thread_status_name(threads.sample.threads[i].status));
    text[used] = '\0';
    otelread_sample_clear(&threads.sample);
    return text;
}

Test(reader_changes, every_thread_is_new_at_first)
{
    add(1, 0);
    add(2, 7);
    cr_expect_str_eq(kept(), "1:detached 2:attached");
}

Test(reader_changes, an_unchanged_thread_is_left_out)
{
    add(1, 0)->stat.state = 'S';
    add(2, 7)->stopped_ns = 20;
    (void)kept();
    add(1, 0)->stat.state = 'R';
    add(2, 7)->stopped_ns = 30;
    cr_expect_str_eq(kept(), "nothing");
}

Test(reader_changes, a_thread_with_another_context_is_kept_whole)
{
    add(1, 5);
    add(2, 7);
    (void)kept();
    add(1, 5);

    struct otelread_thread *const thread = add(2, 7);
    threads.map = (struct otelread_keymap){.keys = {{(const uint8_t *)"k", 1}},
                                           .count = 1};
    thread->record.head.attrs_size = 3;
    thread->record.attrs[1] = 1;
    thread->record.attrs[2] = 'v';
    cr_assert(otelread_changes_keep(&changes, &threads));
    cr_assert_eq(threads.sample.count, 1);

    const struct otelread_thread *const left = &threads.sample.threads[0];
    const struct otelread_node *const node = left->meaning.attributes.first;
    cr_expect_eq(left->tid, 2);
    cr_assert(node);
    cr_expect_eq(node->span.bytes, left->record.attrs + 2);
}

Test(reader_changes, a_detached_record_does_not_count)
{
    add(1, 0)->record.head.span_id[0] = 1;
    (void)kept();
    add(1, 0)->record.head.span_id[0] = 2;
    cr_expect_str_eq(kept(), "nothing");
}

Test(reader_changes, a_thread_that_has_ended_is_shown_once_in_its_place)
{
    add(1, 0);
    add(2, 7);
    add(3, 8);
    (void)kept();
    add(1, 0);
    add(3, 9);
    cr_expect_str_eq(kept(), "2:ended 3:attached");
    add(1, 0);
    add(3, 9);
    cr_expect_str_eq(kept(), "nothing");
}

Test(reader_changes, a_thread_that_was_shown_as_ended_is_not_shown_again)
{
    add(1, 7)->status = OTELREAD_THREAD_ENDED;
    cr_expect_str_eq(kept(), "1:ended");
    cr_expect_str_eq(kept(), "nothing");
}

Test(reader_changes, a_reused_tid_is_another_thread)
{
    add(1, 7)->stat.started = 100;
    (void)kept();
    add(1, 7)->stat.started = 101;
    cr_expect_str_eq(kept(), "1:attached");
}

Test(reader_changes, all_threads_are_new_when_the_variable_has_moved)
{
    add(1, 7);
    (void)kept();
    threads.has_symbol = true;
    threads.search.tls.symbol.offset = -8;
    add(1, 7);
    cr_expect_str_eq(kept(), "1:attached");
}

Test(reader_changes, a_failure_is_shown_once)
{
    add(1, 7);
    (void)kept();
    threads.status = OTELREAD_THREADS_NO_SYMBOL;
    cr_expect_str_eq(kept(), "");
    cr_expect_str_eq(kept(), "nothing");
    threads.status = OTELREAD_THREADS_OK;
    add(1, 7);
    cr_expect_str_eq(kept(), "1:attached");
}
