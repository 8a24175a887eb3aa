/* SPDX-License-Identifier: Apache-2.0 */

/*
 * otelctx-read --threads --watch shows each change of a thread once. The
 * variable is in a library that the targets open on command: this program does
 * not export the one of reader_threads.h.
 */

#include "tests/e2e/reader/reader_threads.h"

#include <dlfcn.h>

TestSuite(reader_threads_watch, .timeout = 600);

static void **(*slot)(void); /* the library's: the calling thread's variable */
static struct record records[2];

static void open_library(void)
{
    void *const library = dlopen(getenv("OTELCTX_SHARER_LIBRARY"), RTLD_NOW);

    if (!library)
        _exit(91);
    *(void **)&slot = dlsym(library, "sharer_slot");
    if (!slot)
        _exit(90);
}

/* Ends at the next command. */
static void *attach_until_told(void *commands)
{
    char command;

    prctl(PR_SET_NAME, "worker");
    *slot() = &records[1];
    return read(*(int *)commands, &command, 1) == 1 ? NULL : commands;
}

static void run_worker(int commands)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, attach_until_told, &commands) != 0 ||
        pthread_join(thread, NULL) != 0)
        _exit(89);
}

/*
 * p publish, o open the library, a attach, d detach, w start a worker with a
 * context, which ends at the next command; q quit.
 */
static void obedient(int ready, int commands)
{
    char command;

    prctl(PR_SET_NAME, "main");
    record_fill(&records[0], 0x4711, ROUTE, sizeof(ROUTE) - 1);
    record_fill(&records[1], 0x4712, ROUTE, sizeof(ROUTE) - 1);
    say_ready(ready);
    while (read(commands, &command, 1) == 1) {
        if (command == 'q')
            _exit(0);
        else if (command == 'p')
            announce();
        else if (command == 'o')
            open_library();
        else if (command == 'a')
            *slot() = &records[0];
        else if (command == 'd')
            *slot() = NULL;
        else if (command == 'w')
            run_worker(commands);
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

Test(reader_threads_watch, the_variable_is_found_when_its_library_is_loaded)
{
    const struct target target = target_start(obedient);
    struct reader reader = WATCH("--threads", number(target.pid));

    reader_expect(&reader, &reader.err, "no process context\n");
    target_tell(&target, 'p');
    reader_expect(&reader, &reader.out, "\n    no_symbol\n");
    sleep_ms(2500); /* past SETTLE_NS: the reader no longer searches */
    target_tell(&target, 'o');
    target_tell(&target, 'a');
    reader_expect(&reader, &reader.out,
                  "  attached  trace 00000000000047110000000000004711 ");
    target_tell(&target, 'q');
    cr_assert_eq(reader_finish(reader), 0, "%s", last.err);
    cr_expect_eq(count(last.out, "no_symbol\n"), 1, "%s", last.out);
    target_end(&target);
}

Test(reader_threads_watch, only_threads_that_change_are_shown)
{
    const struct target target = target_start(obedient);

    target_tell(&target, 'o');
    target_tell(&target, 'p');
    struct reader reader = WATCH("--threads", "--json", number(target.pid));
    reader_expect(&reader, &reader.out, "\"untouched\"");
    target_tell(&target, 'a');
    reader_expect(&reader, &reader.out, "0000000000004711");
    target_tell(&target, 'w');
    reader_expect(&reader, &reader.out, "0000000000004712");
    target_tell(&target, 'w'); /* the worker reads this command */
    reader_expect(&reader, &reader.out, "\"ended\"");
    target_tell(&target, 'd');
    reader_expect(&reader, &reader.out, "\"detached\"");
    sleep_ms(300);
    target_tell(&target, 'q');
    cr_assert_eq(reader_finish(reader), 0, "%s", last.err);
    EXPECT_JSON("[.[] | .pid as $pid | .threads[]? | select(.tid == $pid) | "
                ".status] == [\"untouched\", \"attached\", \"detached\"]");
    EXPECT_JSON("[.[] | .pid as $pid | .threads[]? | select(.tid != $pid) | "
                ".status] | map(select(. == \"attached\" or . == \"ended\")) "
                "== [\"attached\", \"ended\"]");
    EXPECT_JSON("[.[] | select(.status == \"ok\") | .contexts[0].resource"
                ".attributes[0].value.stringValue] | unique == [\"shop\"]");
    target_end(&target);
}

Test(reader_threads_watch, the_text_has_the_context_once_and_then_the_threads)
{
    const struct target target = target_start(obedient);

    target_tell(&target, 'o');
    target_tell(&target, 'p');
    struct reader reader = WATCH("--threads", "--no-stop", number(target.pid));
    reader_expect(&reader, &reader.out, "\n  threads\n");
    target_tell(&target, 'a');
    reader_expect(&reader, &reader.out, "  attached  trace ");
    sleep_ms(300);
    target_tell(&target, 'q');
    cr_assert_eq(reader_finish(reader), 0, "%s", last.err);
    cr_expect_eq(count(last.out, "service.name"), 1, "%s", last.out);
    cr_expect_eq(count(last.out, "  symbol     "), 1, "%s", last.out);
    cr_expect_eq(count(last.out, "\n  threads\n"), 2, "%s", last.out);
    target_end(&target);
}

Test(reader_threads_watch, watch_with_all_follows_threads)
{
    struct reader reader = WATCH("--threads", "--all");
    char title[32];

    const struct target target = target_start(obedient);
    target_tell(&target, 'o');
    target_tell(&target, 'p');
    snprintf(title, sizeof(title), "PID %d ", (int)target.pid);
    reader_expect(&reader, &reader.out, title);
    target_tell(&target, 'a');
    reader_expect(&reader, &reader.out, "00000000000047110000000000004711");
    kill(reader.pid, SIGINT);
    EXPECT_STATUS(reader_finish(reader), 0);
    target_end(&target);
}
