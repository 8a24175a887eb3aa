/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/log.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/support/hear.h"

enum {
    LINE_MAX_SIZE = 480
};

static void say(const char *text)
{
    otelctx_log_set_level(OTELCTX_LOG_ERROR);
    otelctx_log(OTELCTX_LOG_ERROR, text);
}

static const char *said(const char *text)
{
    const int end = hear();

    say(text);
    return heard(end);
}

static bool is_sent(enum otelctx_log_level level)
{
    const int end = hear();

    otelctx_log(level, "x");
    return *heard(end) != '\0';
}

Test(line, has_a_prefix_with_the_pid_and_the_level)
{
    char expected[64];

    snprintf(expected, sizeof(expected), "otelctx[%d]: error: hello\n",
             getpid());
    otelctx_log_set_level(OTELCTX_LOG_ERROR);
    cr_expect_str_eq(said("hello"), expected);
}

Test(line, shows_control_characters_as_question_marks)
{
    cr_expect(strstr(said("a\x1b[1m\nb\x7f"), "a?[1m?b?\n"));
}

Test(line, shows_no_byte_that_a_terminal_may_take_for_a_command)
{
    cr_expect(strstr(said("a\xc2\x9b"
                          "31m\x9b~"),
                     "a??31m?~\n"));
}

Test(line, is_cut_when_it_is_too_long_and_still_ends)
{
    char text[2000];
    const char *out;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    out = said(text);

    cr_expect_eq(strlen(out), LINE_MAX_SIZE);
    cr_expect_eq(out[strlen(out) - 1], '\n');
}

Test(line, has_what_its_format_says)
{
    const struct otelctx_span span = OTELCTX_SPAN("span");
    const int end = hear();

    otelctx_log_set_level(OTELCTX_LOG_ERROR);
    otelctx_log(OTELCTX_LOG_ERROR, "%s (%t) [%d|%d|%o|%o]", "text", &span,
                (size_t)UINT64_MAX, (size_t)0, (size_t)0, (size_t)7);
    cr_expect(strstr(heard(end),
                     ": error: text (span) [18446744073709551615|0||7]\n"));
}

Test(line, cuts_each_text_on_its_own)
{
    char text[130];
    char want[130 + 10];
    struct otelctx_span span = {text, 128};

    otelctx_log_set_level(OTELCTX_LOG_ERROR);
    memset(text, 'x', sizeof(text));
    for (; span.size < sizeof(text); span.size++) {
        const int end = hear();

        otelctx_log(OTELCTX_LOG_ERROR, "\"%t\"", &span);
        (void)snprintf(want, sizeof(want), "\"%.128s%s\"\n", text,
                       span.size > 128 ? "..." : "");
        cr_expect(strstr(heard(end), want), "%zu", span.size);
    }
}

Test(level, that_is_not_set_sends_nothing)
{
    cr_expect_not(is_sent(OTELCTX_LOG_ERROR));
}

Test(level, is_sent_with_those_before_it)
{
    otelctx_log_set_level(OTELCTX_LOG_ERROR);
    cr_expect(is_sent(OTELCTX_LOG_ERROR));
    cr_expect_not(is_sent(OTELCTX_LOG_WARN));
}

Test(level, none_sends_nothing_and_debug_everything)
{
    otelctx_log_set_level(OTELCTX_LOG_NONE);
    cr_expect_not(is_sent(OTELCTX_LOG_ERROR));
    otelctx_log_set_level(OTELCTX_LOG_DEBUG);
    cr_expect(is_sent(OTELCTX_LOG_DEBUG));
}

Test(stderr, that_is_closed_is_no_trouble)
{
    close(2);
    say("nobody hears this");
}

Test(stderr, that_nobody_reads_kills_nobody)
{
    int ends[2];
    sigset_t pending;

    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], 2), 2);
    close(ends[0]);
    close(ends[1]);

    say("nobody hears this");

    cr_assert_eq(sigpending(&pending), 0);
    cr_expect_not(sigismember(&pending, SIGPIPE));
}

Test(stderr, a_signal_that_was_pending_before_stays_pending)
{
    int ends[2];
    sigset_t pipes, pending;

    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipes, NULL);
    raise(SIGPIPE);
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], 2), 2);
    close(ends[0]);
    close(ends[1]);

    say("nobody hears this");

    cr_assert_eq(sigpending(&pending), 0);
    cr_expect(sigismember(&pending, SIGPIPE));
}

Test(stderr, that_is_full_does_not_block, .timeout = 60)
{
    static const char filler[4096];
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], 2), 2);
    cr_assert_eq(fcntl(2, F_SETFL, O_NONBLOCK), 0);
    while (write(2, filler, sizeof(filler)) > 0)
        ;
    cr_assert_eq(fcntl(2, F_SETFL, 0), 0);

    say("nobody hears this");
}

Test(stderr, at_the_file_size_limit_kills_nobody)
{
    char path[] = "/tmp/otelctx-diag-XXXXXX";
    const int fd = mkstemp(path);

    cr_assert_geq(fd, 0);
    unlink(path);
    cr_assert_eq(dup2(fd, 2), 2);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}), 0);

    say("nobody hears this");

    cr_expect_eq(lseek(2, 0, SEEK_END), 0);
}

/* In a new session: write from a background job to a terminal with TOSTOP,
 * which stops such jobs with SIGTTOU. */
static int say_from_background(const char *terminal)
{
    struct termios settings;
    int status;
    pid_t job;

    setsid();
    dup2(open(terminal, O_RDWR), 2); /* becomes the controlling terminal */
    tcgetattr(2, &settings);
    settings.c_lflag |= TOSTOP;
    tcsetattr(2, TCSANOW, &settings);
    job = fork();
    if (job == 0) {
        setpgid(0, 0);
        say("somebody reads this");
        _exit(tcgetpgrp(2) == getpgrp() ? 1 : 0);
    }
    waitpid(job, &status, WUNTRACED);
    kill(job, SIGKILL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

Test(stderr, that_stops_background_jobs_does_not_stop_us, .timeout = 60)
{
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    char out[128] = "";
    int status;
    pid_t session;

    cr_assert_geq(terminal, 0);
    cr_assert_eq(grantpt(terminal), 0);
    cr_assert_eq(unlockpt(terminal), 0);
    session = fork();
    if (session == 0)
        _exit(say_from_background(ptsname(terminal)));

    cr_assert_eq(waitpid(session, &status, 0), session);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
    cr_expect_gt(read(terminal, out, sizeof(out) - 1), 0);
    cr_expect(strstr(out, "somebody reads this"));
}

Test(stderr, the_signal_mask_is_as_it_was)
{
    sigset_t before, after;

    sigprocmask(SIG_BLOCK, NULL, &before);
    (void)said("hello");
    sigprocmask(SIG_BLOCK, NULL, &after);

    cr_expect_arr_eq((const char *)&before, (const char *)&after, 8);
}
