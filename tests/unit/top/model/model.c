/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/model/model.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct oteltop_process *process;

static void begin(void)
{
    process = oteltop_process_new(4711);
    cr_assert_not_null(process);
}

static void end(void)
{
    oteltop_process_free(process);
}

TestSuite(model, .init = begin, .fini = end);

static struct oteltop_span *intern(uint8_t id, uint8_t flags, const char *key,
                                   const char *value, uint64_t now_ns)
{
    struct oteltop_span like = {.flags = flags};
    struct oteltop_span *span;

    memset(like.trace_id, id, sizeof(like.trace_id));
    memset(like.span_id, id, sizeof(like.span_id));
    if (key)
        cr_assert_eq(oteltop_attributes_add(&like.attributes, key, value), 0);
    span = oteltop_span_intern(process, &like, now_ns);
    cr_assert_not_null(span);
    cr_expect_eq(like.attributes.count, 0);
    return span;
}

Test(model, numbers_are_never_given_twice)
{
    struct oteltop_process *const other = oteltop_process_new(4711);
    struct oteltop_thread *const thread = oteltop_thread_new(other, 1, "a");
    struct oteltop_thread *const second = oteltop_thread_new(other, 1, "a");

    cr_expect_neq(process->number, other->number);
    cr_expect_neq(thread->number, second->number);
    cr_expect_neq(intern(1, 0, NULL, NULL, 0)->number,
                  intern(2, 0, NULL, NULL, 0)->number);
    cr_expect_gt(process->number, 0);
    cr_expect_gt(thread->number, 0);
    oteltop_thread_free(thread);
    oteltop_thread_free(second);
    oteltop_process_free(other);
}

Test(model, equal_contexts_are_one_span)
{
    struct oteltop_span *const bare = intern(1, 1, NULL, NULL, 0);
    struct oteltop_span *const cart = intern(1, 1, "http.route", "/cart", 0);

    cr_expect_eq(intern(1, 1, NULL, NULL, 5), bare);
    cr_expect_eq(intern(1, 1, "http.route", "/cart", 5), cart);
    cr_expect_eq(bare->last_ns, 5);
}

Test(model, what_differs_is_another_span)
{
    struct oteltop_span *const bare = intern(1, 1, NULL, NULL, 0);
    struct oteltop_span *const cart = intern(1, 1, "http.route", "/cart", 0);

    cr_expect_neq(bare, cart);
    cr_expect_neq(intern(2, 1, NULL, NULL, 0), bare);
    cr_expect_neq(intern(1, 0, NULL, NULL, 0), bare);
    cr_expect_neq(intern(1, 1, "http.route", "/", 0), cart);
    cr_expect_neq(intern(1, 1, "http.method", "/cart", 0), cart);
}

Test(model, only_one_of_the_ids_may_differ)
{
    struct oteltop_span like = {.flags = 1};
    struct oteltop_span *const both = intern(1, 1, NULL, NULL, 0);

    memset(like.trace_id, 1, sizeof(like.trace_id));
    memset(like.span_id, 2, sizeof(like.span_id));
    cr_expect_neq(oteltop_span_intern(process, &like, 0), both);
    memset(like.trace_id, 2, sizeof(like.trace_id));
    memset(like.span_id, 1, sizeof(like.span_id));
    cr_expect_neq(oteltop_span_intern(process, &like, 0), both);
}

Test(model, a_span_began_when_its_ids_were_seen_first)
{
    cr_expect_eq(intern(1, 1, NULL, NULL, 10)->first_ns, 10);
    cr_expect_eq(intern(1, 1, "http.route", "/cart", 20)->first_ns, 10);
    cr_expect_eq(intern(1, 1, "http.route", "/cart", 30)->first_ns, 10);
    cr_expect_eq(intern(1, 1, "http.route", "/cart", 30)->last_ns, 30);
    cr_expect_eq(intern(2, 1, NULL, NULL, 40)->first_ns, 40);
}

Test(model, spans_that_were_not_seen_for_long_are_forgotten)
{
    enum {
        SPANS = 200
    };
    unsigned number[SPANS];
    unsigned last;

    for (size_t i = 0; i < SPANS; i++)
        number[i] = intern((uint8_t)i, 0, NULL, NULL, i)->number;
    last = number[SPANS - 1];
    oteltop_process_forget(process, 100);
    for (size_t i = 0; i < SPANS; i++) {
        const unsigned now = intern((uint8_t)i, 0, NULL, NULL, 300)->number;

        cr_expect(i < 100 ? now > last : now == number[i], "%zu", i);
    }
}

Test(model, a_process_without_spans_forgets_nothing)
{
    oteltop_process_forget(process, 100);
    cr_expect_null(process->spans);
}

Test(model, many_spans_are_found_again)
{
    enum {
        SPANS = 20000
    };
    static struct oteltop_span *spans[SPANS];

    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < SPANS; i++) {
            struct oteltop_span like = {.flags = 1};

            memcpy(like.trace_id, &i, sizeof(i));
            memcpy(like.span_id, &i, sizeof(i));
            struct oteltop_span *const found =
                oteltop_span_intern(process, &like, round);
            if (round == 0)
                spans[i] = found;
            else
                cr_assert_eq(found, spans[i], "%zu", i);
        }
    }
}

Test(model, what_has_ended_is_freed_together)
{
    struct oteltop_ended ended = {.processes = NULL};

    for (int i = 0; i < 3; i++) {
        struct oteltop_process *const other = oteltop_process_new(i);

        oteltop_ended_add_thread(&ended, oteltop_thread_new(other, i, "a"));
        oteltop_ended_add_process(&ended, other);
    }
    oteltop_ended_free(&ended);
    cr_expect_null(ended.processes);
    cr_expect_null(ended.threads);
    oteltop_ended_free(&ended);
    oteltop_process_free(NULL);
    oteltop_thread_free(NULL);
}
