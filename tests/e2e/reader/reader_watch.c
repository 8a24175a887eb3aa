/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-read --watch shows each change once, and nothing else. */

#include "tests/e2e/reader/reader_harness.h"

TestSuite(reader_watch, .timeout = 600);

static void update(struct page *page, const char *bytes, size_t size)
{
    const uint64_t stamp = page->header.published_at_ns + 1;

    __atomic_store_n(&page->header.published_at_ns, 0, __ATOMIC_SEQ_CST);
    memcpy(page->payload, bytes, size);
    page->header.payload_size = (uint32_t)size;
    __atomic_store_n(&page->header.published_at_ns, stamp, __ATOMIC_SEQ_CST);
}

static void drop(struct page *page)
{
    __atomic_store_n(&page->header.published_at_ns, 0, __ATOMIC_SEQ_CST);
    memset(page->header.signature, 0, sizeof(page->header.signature));
    munmap(page, PAGE);
}

/* p publish, u update, d drop, z set the timestamp to zero, q quit. */
static void obedient(int ready, int commands)
{
    struct page *page = NULL;
    char command;

    say_ready(ready);
    while (read(commands, &command, 1) == 1) {
        if (command == 'q')
            _exit(0);
        else if (command == 'p' || !page)
            page = publish_shop();
        else if (command == 'u')
            update(page, CART, sizeof(CART) - 1);
        else if (command == 'd')
            drop(page);
        else if (command == 'z')
            page->header.published_at_ns = 0;
        else
            _exit(92);
    }
}

static size_t count(const char *text, const char *what)
{
    size_t times = 0;

    for (; (text = strstr(text, what)); text++)
        times++;
    return times;
}

Test(reader_watch, a_context_is_followed_from_its_first_publish_to_the_end)
{
    const struct target target = target_start(obedient);
    struct reader reader = WATCH(number(target.pid));

    reader_expect(&reader, &reader.err, "no process context\n");
    target_tell(&target, 'p');
    reader_expect(&reader, &reader.out, "\"shop\"");
    target_tell(&target, 'u');
    reader_expect(&reader, &reader.out, "\"cart\"");
    target_tell(&target, 'd');
    reader_expect(&reader, &reader.err, "the context was dropped\n");
    target_tell(&target, 'p');
    sleep_ms(400);
    target_tell(&target, 'q');
    cr_assert_eq(reader_finish(reader), 0, "%s", last.err);
    EXPECT_TEXT(last.err, "the process has ended\n");
    cr_expect_eq(count(last.out, "PID "), 3, "%s", last.out);
    cr_expect_eq(count(last.err, "\n"), 3, "%s", last.err);
    target_end(&target);
}

Test(reader_watch, nothing_is_printed_while_nothing_changes)
{
    const struct target target = target_start(obedient);

    target_tell(&target, 'p');
    sleep_ms(50);
    struct reader reader = WATCH(number(target.pid));
    reader_expect(&reader, &reader.out, "\"shop\"");
    sleep_ms(600);
    kill(reader.pid, SIGTERM);
    cr_assert_eq(reader_finish(reader), 0, "%s", last.err);
    cr_expect_eq(count(last.out, "PID "), 1);
    cr_expect_str_empty(last.err);
    target_end(&target);
}

Test(reader_watch, json_has_a_line_for_every_change_of_status)
{
    const struct target target = target_start(obedient);
    struct reader reader = WATCH("--json", number(target.pid));

    reader_expect(&reader, &reader.out, "\"no_context\"");
    target_tell(&target, 'p');
    reader_expect(&reader, &reader.out, "\"shop\"");
    target_tell(&target, 'q');
    cr_assert_eq(reader_finish(reader), 0, "%s", last.err);
    EXPECT_JSON("[.[].status] == [\"no_context\", \"ok\", \"no_process\"]");
    target_end(&target);
}

Test(reader_watch, a_context_that_stays_busy_is_shown_once)
{
    const struct target target = target_start(obedient);

    target_tell(&target, 'p');
    struct reader reader = WATCH(number(target.pid));
    reader_expect(&reader, &reader.out, "\"shop\"");
    target_tell(&target, 'z');
    reader_expect(&reader, &reader.err, "timestamp stayed zero");
    sleep_ms(1500);
    kill(reader.pid, SIGINT);
    cr_assert_eq(reader_finish(reader), 0);
    cr_expect_eq(count(last.err, "\n"), 1, "%s", last.err);
    target_end(&target);
}

Test(reader_watch, the_exit_status_is_that_of_a_process_that_was_never_ok)
{
    const struct target target = target_start(obedient);
    struct reader reader = WATCH(number(target.pid));

    reader_expect(&reader, &reader.err, "no process context\n");
    target_tell(&target, 'q');
    EXPECT_STATUS(reader_finish(reader), 5);
    waitpid(target.pid, NULL, 0);
    EXPECT_STATUS(RUN("--watch", number(target.pid)), 3);
}

Test(reader_watch, the_reader_runs_until_the_last_process_ends)
{
    const struct target first = target_start(obedient);
    const struct target second = target_start(obedient);

    target_tell(&first, 'p');
    target_tell(&second, 'p');
    sleep_ms(50);
    struct reader reader = WATCH(number(first.pid), number(second.pid));
    char title[32];

    snprintf(title, sizeof(title), "PID %d ", (int)second.pid);
    reader_expect(&reader, &reader.out, title);
    target_tell(&first, 'q');
    reader_expect(&reader, &reader.err, "the process has ended\n");
    target_tell(&second, 'u');
    reader_expect(&reader, &reader.out, "\"cart\"");
    target_tell(&second, 'q');
    EXPECT_STATUS(reader_finish(reader), 0);
    target_end(&first);
    target_end(&second);
}

Test(reader_watch, watch_with_all_finds_processes_that_start_later)
{
    struct reader reader = WATCH("--all");
    char title[32];

    sleep_ms(300);
    const struct target target = target_start(obedient);
    snprintf(title, sizeof(title), "PID %d ", (int)target.pid);
    sleep_ms(500);
    target_tell(&target, 'p');
    reader_expect(&reader, &reader.out, title);
    target_tell(&target, 'q');
    snprintf(title, sizeof(title), "PID %d: the proc", (int)target.pid);
    reader_expect(&reader, &reader.err, title);
    kill(reader.pid, SIGINT);
    EXPECT_STATUS(reader_finish(reader), 0);
    target_end(&target);
}
