/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/sys.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* otelctx_sys_write_stderr(): log.c. The futex calls: lock.c. */

Test(readable, is_memory_that_can_be_read)
{
    const size_t page = (size_t)getpagesize();
    char *const at =
        mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(at, MAP_FAILED);
    cr_assert_eq(mprotect(at + page, page, PROT_NONE), 0);
    cr_expect(otelctx_sys_readable(at));
    cr_expect(otelctx_sys_readable(at + page - 8));
    cr_expect_not(otelctx_sys_readable(at + page));
    cr_assert_eq(munmap(at, page), 0);
    cr_expect_not(otelctx_sys_readable(at));
    cr_expect_not(otelctx_sys_readable(NULL));
}

Test(readable, changes_no_signal_mask)
{
    static const uint64_t all = UINT64_MAX;
    sigset_t before, after;

    sigprocmask(SIG_BLOCK, NULL, &before);
    cr_expect(otelctx_sys_readable(&all));
    sigprocmask(SIG_BLOCK, NULL, &after);
    cr_expect_arr_eq((const char *)&before, (const char *)&after, 8);
}

Test(random, fills_all_bytes_with_others_each_time)
{
    uint8_t seen[32] = {0}, bytes[32];

    for (int i = 0; i < 16; i++) {
        memset(bytes, 0, sizeof(bytes));
        cr_assert_eq(otelctx_sys_random(bytes, sizeof(bytes)), 0);
        for (size_t at = 0; at < sizeof(bytes); at++)
            seen[at] |= bytes[at];
    }
    for (size_t at = 0; at < sizeof(bytes); at++)
        cr_expect_neq(seen[at], 0, "byte %zu was never written", at);
}

Test(file_size_limit, is_the_soft_one)
{
    uint64_t limit = 0;

    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 8192}), 0);
    cr_expect_eq(otelctx_sys_file_size_limit(&limit), 0);
    cr_expect_eq(limit, 4096);
}

Test(map, that_is_refused_changes_no_output)
{
    void *at = &at;

    cr_expect_eq(otelctx_sys_map(0, -1, &at), -EINVAL);
    cr_expect_eq(at, &at);
}

/* ---- Files --------------------------------------------------------------- */

static char directory[] = "/tmp/otelctx-sys-XXXXXX";

static void make_directory(void)
{
    cr_assert(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
}

static void remove_directory(void)
{
    (void)unlink("file");
    cr_assert_eq(rmdir(directory), 0);
}

TestSuite(file, .init = make_directory, .fini = remove_directory);

static void write_file(const char *text)
{
    const int fd = open("file", O_CREAT | O_WRONLY, 0600);

    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

Test(file, is_opened_and_read_to_its_end)
{
    char out[16] = "";
    bool has_text = false;
    int fd;

    write_file("text");
    fd = otelctx_sys_open_file("file", &has_text);
    cr_assert_geq(fd, 0);
    cr_expect(has_text);
    cr_expect_eq(otelctx_sys_read(fd, out, sizeof(out)), 4);
    cr_expect_str_eq(out, "text");
    cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

Test(file, that_is_empty_has_no_text)
{
    bool has_text = true;

    write_file("");
    cr_expect_geq(otelctx_sys_open_file("file", &has_text), 0);
    cr_expect_not(has_text);
}

Test(file, that_is_missing_has_its_own_error)
{
    bool has_text;

    cr_expect_eq(otelctx_sys_open_file("file", &has_text), -ENOENT);
}

static void expect_refusal(const char *path)
{
    const int before = dup(0);
    bool has_text;
    int after;

    close(before);
    cr_expect_eq(otelctx_sys_open_file(path, &has_text), -EINVAL, "%s", path);
    after = dup(0);
    cr_expect_eq(after, before, "%s: it is still open", path);
    close(after);
}

Test(file, of_another_kind_is_refused_without_blocking, .timeout = 60)
{
    cr_assert_eq(mkfifo("file", 0600), 0);
    expect_refusal("file");
    expect_refusal(".");
    expect_refusal("/dev/null");
}

/* One read(2) of a pipe returns what is there; the rest is written later. */
Test(read, goes_on_until_it_has_all, .timeout = 60)
{
    char out[8] = "";
    int ends[2];
    pid_t pid;

    cr_assert_eq(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        (void)!write(ends[1], "abc", 3);
        usleep(50000);
        (void)!write(ends[1], "defgh", 5);
        _exit(0);
    }
    close(ends[1]);
    cr_expect_eq(otelctx_sys_read_some(ends[0], out, 2), 2);
    cr_expect_eq(otelctx_sys_read(ends[0], out + 2, 5), 5);
    cr_expect_str_eq(out, "abcdefg");
    cr_expect_eq(otelctx_sys_read(ends[0], out, 7), 1, "up to the end");
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(appends, is_true_of_a_descriptor_with_that_flag)
{
    char path[] = "/tmp/otelctx-sys-XXXXXX";
    const int fd = mkostemp(path, O_APPEND);
    const int plain = open(path, O_WRONLY);

    unlink(path);
    cr_expect(otelctx_sys_appends(fd));
    cr_expect_not(otelctx_sys_appends(plain));
    close(fd);
    cr_expect_not(otelctx_sys_appends(fd));
}

Test(file_id, is_the_same_for_two_descriptors_of_a_file)
{
    char path[] = "/tmp/otelctx-sys-XXXXXX",
         other[] = "/tmp/otelctx-sys-XXXXXX";
    const int fd = mkstemp(path), same = open(path, O_RDONLY);
    struct otelctx_file_id a, b, c;

    cr_assert_eq(otelctx_sys_file_id(fd, &a), 0);
    cr_assert_eq(otelctx_sys_file_id(same, &b), 0);
    cr_assert_eq(otelctx_sys_file_id(mkstemp(other), &c), 0);
    unlink(path);
    unlink(other);
    cr_expect(a.inode == b.inode && a.device == b.device);
    cr_expect_neq(a.inode, c.inode);
    cr_expect(a.is_regular);
    cr_expect_eq(otelctx_sys_file_id(-1, &c), -EBADF);
}
