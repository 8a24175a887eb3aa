/* SPDX-License-Identifier: Apache-2.0 */

/* Kinds of target processes, and the reasons why one cannot be read. */

#include "tests/e2e/reader/reader_harness.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/syscall.h>

TestSuite(reader_target, .timeout = 600);

static void shop(int ready, int commands)
{
    (void)commands;
    publish_shop();
    say_ready(ready);
}

static void nothing(int ready, int commands)
{
    (void)commands;
    say_ready(ready);
}

Test(reader_target, a_process_without_a_context_is_status_5)
{
    EXPECT_STATUS(run_on(nothing, "--json"), 5);
    EXPECT_JSON(".[0].status == \"no_context\" and .[0].contexts == [] and "
                ".[0].message == \"no process context\"");
}

/* A pid that no process has. */
static pid_t nobody(void)
{
    const pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

Test(reader_target, a_pid_without_a_process_is_status_3)
{
    const pid_t pid = nobody();
    char line[80];

    snprintf(line, sizeof(line), "otelctx-read: PID %d: no such process\n",
             (int)pid);
    EXPECT_STATUS(RUN("--json", number(pid)), 3);
    cr_expect_str_eq(last.err, line);
    EXPECT_JSON(".[0].status == \"no_process\" and .[0].command == \"\"");
}

static void ends(int ready, int commands)
{
    (void)commands;
    publish_shop();
    say_ready(ready);
    _exit(0);
}

Test(reader_target, a_zombie_is_status_3)
{
    const struct target target = target_start(ends);
    siginfo_t info;

    cr_assert_eq(waitid(P_PID, (id_t)target.pid, &info, WEXITED | WNOWAIT), 0);
    EXPECT_STATUS(RUN(number(target.pid)), 3);
    EXPECT_TEXT(last.err, "the process has ended");
    target_end(&target);
}

static void *publish_later(void *ready)
{
    sleep_ms(50);
    publish_shop();
    say_ready(*(int *)ready);
    for (;;)
        pause();
    return NULL;
}

static void main_thread_exits(int ready, int commands)
{
    static int descriptor;
    pthread_t thread;

    (void)commands;
    descriptor = ready;
    pthread_create(&thread, NULL, publish_later, &descriptor);
    pthread_exit(NULL);
}

Test(reader_target, a_process_whose_main_thread_exited_is_read)
{
    EXPECT_STATUS(run_on(main_thread_exits, "--"), 0);
}

Test(reader_target, a_kernel_thread_has_no_context)
{
    FILE *const stat = fopen("/proc/2/stat", "r");
    char command[32] = "";

    if (stat) {
        cr_expect_eq(fscanf(stat, "2 (%31[^)])", command), 1);
        fclose(stat);
    }
    if (strcmp(command, "kthreadd") != 0 || getuid() != 0)
        cr_skip_test("machine: no kernel threads to be seen here");
    EXPECT_STATUS(RUN("2"), 5);
}

static void execs(int ready, int commands)
{
    publish_shop();
    say_ready(ready);
    char byte;
    if (read(commands, &byte, 1) == 1)
        execlp("sleep", "sleep", "60", (char *)NULL);
}

Test(reader_target, a_context_does_not_outlive_an_exec)
{
    const struct target target = target_start(execs);

    EXPECT_STATUS(RUN(number(target.pid)), 0);
    target_tell(&target, 'x');
    sleep_ms(200);
    EXPECT_STATUS(RUN(number(target.pid)), 5);
    target_end(&target);
}

/* ---- permission and system calls ---------------------------------------- */

static void become_nobody(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(94);
}

/* The build tree may be closed to others: then user nobody cannot run the
 * reader. */
static bool nobody_can_run(void)
{
    return getuid() == 0 && RUN_WITH(become_nobody, "--version") == 0;
}

Test(reader_target, a_process_of_another_user_is_status_4)
{
    if (!nobody_can_run())
        cr_skip_test("machine: only root can become somebody else");

    const struct target target = target_start(shop);
    EXPECT_STATUS(RUN_WITH(become_nobody, "--json", number(target.pid)), 4);
    EXPECT_JSON(".[0].status == \"no_permission\"");
    EXPECT_TEXT(last.err, "no permission to read its memory");
    target_end(&target);
}

Test(reader_target, all_counts_the_processes_that_it_may_not_read)
{
    if (!nobody_can_run())
        cr_skip_test("machine: only root can become somebody else");

    const struct target target = target_start(shop);
    const int status = RUN_WITH(become_nobody, "--all");
    cr_expect(status == 4 || status == 5, "%d", status);
    cr_expect_str_empty(last.out);
    EXPECT_TEXT(last.err, "could not be read: no permission\n");
    target_end(&target);
}

static void forbid_vm_readv(uint32_t error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(93);
}

static void without_vm_readv(void)
{
    forbid_vm_readv(ENOSYS);
}

static void with_vm_readv_denied(void)
{
    forbid_vm_readv(EPERM);
}

static void to_nowhere(int ready, int commands)
{
    (void)commands;
    publish_shop()->header.payload = UINT64_MAX - 100;
    say_ready(ready);
}

Test(reader_target, without_process_vm_readv_the_reader_uses_proc_pid_mem)
{
    const struct target target = target_start(shop);
    const struct target bad = target_start(to_nowhere);

    EXPECT_STATUS(RUN_WITH(without_vm_readv, number(target.pid)), 0);
    EXPECT_TEXT(last.out, "\"shop\"");
    EXPECT_STATUS(RUN_WITH(with_vm_readv_denied, number(target.pid)), 0);
    EXPECT_STATUS(RUN_WITH(without_vm_readv, number(bad.pid)), 7);
    EXPECT_TEXT(last.err, "cannot be read");
    target_end(&target);
    target_end(&bad);
}

/* ---- several processes, all processes ----------------------------------- */

Test(reader_target, all_processes_are_reported_and_the_first_failure_counts)
{
    const struct target good = target_start(shop);
    const struct target none = target_start(nothing);
    const pid_t gone = nobody();

    EXPECT_STATUS(RUN("--json", number(good.pid), number(none.pid),
                      number(gone), number(good.pid)),
                  5);
    EXPECT_JSON("[.[].status] == [\"ok\", \"no_context\", \"no_process\", "
                "\"ok\"]");
    EXPECT_STATUS(RUN(number(gone), number(none.pid)), 3);
    EXPECT_STATUS(RUN(number(good.pid), number(good.pid)), 0);
    EXPECT_TEXT(last.out, "(none)\n\nPID ");
    target_end(&good);
    target_end(&none);
}

Test(reader_target, all_shows_only_processes_with_a_context)
{
    const struct target good = target_start(shop);
    const struct target none = target_start(nothing);
    char filter[200];

    EXPECT_STATUS(RUN("--all", "--json"), 0);
    snprintf(filter, sizeof(filter),
             "([.[] | select(.pid == %d)] | length == 1) and "
             "([.[] | select(.pid == %d)] | length == 0)",
             (int)good.pid, (int)none.pid);
    EXPECT_JSON(filter);
    target_end(&good);
    target_end(&none);
}

/* ---- the command line --------------------------------------------------- */

Test(reader_target, wrong_usage_is_status_2)
{
    EXPECT_STATUS(RUN("--json", "--raw", "1"), 2);
    EXPECT_TEXT(last.err, "--json and --raw exclude each other");
    EXPECT_STATUS(RUN("--json"), 2);
    EXPECT_STATUS(RUN("--all", "1"), 2);
    EXPECT_STATUS(RUN("--sideways", "1"), 2);
    EXPECT_TEXT(last.err, "\"--sideways\"");
    EXPECT_STATUS(RUN("1", "-xy"), 2);
    EXPECT_TEXT(last.err, "\"-x\"");
    cr_expect_str_empty(last.out);
}

Test(reader_target, a_number_that_cannot_be_a_pid_is_wrong_usage)
{
    static const char *const words[] = {"0", "", "99999999999999999999"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        EXPECT_STATUS(RUN("--", words[i]), 2);
}

Test(reader_target, an_argument_that_is_no_decimal_number_is_a_name)
{
    static const char *const words[] = {"-1", "+1",   "1x",
                                        " 1", "0x10", "1\x1b"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        EXPECT_STATUS(RUN("--", words[i]), 3);
        EXPECT_TEXT(last.err, "no process is called '");
        cr_expect(!strchr(last.err, '\x1b'));
    }
}

Test(reader_target, help_and_version_are_status_0)
{
    EXPECT_STATUS(RUN("--help"), 0);
    EXPECT_TEXT(last.out, "usage: otelctx-read ");
    EXPECT_STATUS(RUN("--version"), 0);
    cr_expect_eq(strncmp(last.out, "otelctx-read ", 13), 0);
    cr_expect_eq(strlen(last.out), strcspn(last.out, "\n") + 1);
}

static void write_to_full(void)
{
    dup2(open("/dev/full", O_WRONLY), 1);
}

static void close_stdout(void)
{
    close(1);
}

static void broken_pipe(void)
{
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends) == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
    }
}

Test(reader_target, output_that_cannot_be_written_is_status_1)
{
    static reader_setup *const setups[] = {write_to_full, close_stdout,
                                           broken_pipe};
    const struct target target = target_start(shop);

    for (size_t i = 0; i < 3; i++) {
        EXPECT_STATUS(RUN_WITH(setups[i], number(target.pid)), 1);
        EXPECT_TEXT(last.err, "otelctx-read: cannot write: ");
        EXPECT_STATUS(RUN_WITH(setups[i], "--help"), 1);
    }
    target_end(&target);
}
