/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/root.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a file holds, or why it is refused. */
static const struct {
    const char *path, *text;
    int error;
} cases[] = {
    {"/file", "inside", 0},
    {"file", "inside", 0},
    {"//dir/.././file", "inside", 0},
    {"/../../file", "inside", 0},
    {"/dir/../../../file", "inside", 0},
    {"/dir/up", "inside", 0},       /* ../../../../file */
    {"/dir/absolute", "inside", 0}, /* /file */
    {"/dir/deep/../absolute", "inside", 0},
    {"/again/file", "inside", 0}, /* dir/link to the directory above */
    {"/none", NULL, -ENOENT},
    {"/file/file", NULL, -ENOTDIR},
    {"/loop", NULL, -ELOOP},
    {"/outside", NULL, -ENOENT}, /* the path of a file beside the root */
    {"/dir", NULL, -EINVAL},
    {"/", NULL, -EINVAL},
    {"/fifo", NULL, -EINVAL},
    {"/dir/fifo", NULL, -EINVAL}, /* a link to it */
};

static void make_links(int root, const char *outside)
{
    static const char *const links[][2] = {
        {"../../../../file", "dir/up"},
        {"/file", "dir/absolute"},
        {"..", "dir/link"},
        {"dir/link", "again"},
        {"loop", "loop"},
        {"../fifo", "dir/fifo"},
    };

    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        cr_assert_eq(symlinkat(links[i][0], root, links[i][1]), 0);
    cr_assert_eq(symlinkat(outside, root, "outside"), 0);
}

static void make_file(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");

    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* A directory that serves as a root, and a file beside it. */
static int make_root(char *top)
{
    char path[128], outside[128];
    int root;

    cr_assert_not_null(mkdtemp(top));
    (void)snprintf(outside, sizeof(outside), "%s/secret", top);
    make_file(outside, "outside");
    (void)snprintf(path, sizeof(path), "%s/root", top);
    cr_assert_eq(mkdir(path, 0700), 0);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(root, 0);
    cr_assert_eq(mkdirat(root, "dir", 0700), 0);
    cr_assert_eq(mkdirat(root, "dir/deep", 0700), 0);
    cr_assert_eq(mkfifoat(root, "fifo", 0600), 0);
    (void)snprintf(path, sizeof(path), "%s/root/file", top);
    make_file(path, "inside");
    make_links(root, outside);
    return root;
}

static void remove_root(const char *top)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -r %s", top);
    cr_assert_eq(system(command), 0);
}

static void try_all(void)
{
    char top[] = "/tmp/otelctx-root-XXXXXX";
    const int root = make_root(top);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[16] = "";
        const long got =
            otelbase_root_read(root, cases[i].path, text, sizeof(text) - 1);

        if (cases[i].text)
            cr_expect_str_eq(text, cases[i].text, "%s: %ld, %s", cases[i].path,
                             got, text);
        else
            cr_expect_eq(got, cases[i].error, "%s: %ld", cases[i].path, got);
    }
    (void)close(root);
    remove_root(top);
}

static void refuse_openat2(int error)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};

    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

Test(root, is_not_left_and_only_regular_files_are_opened)
{
    try_all();
}

Test(root, is_not_left_before_linux_5_6)
{
    refuse_openat2(ENOSYS);
    try_all();
}

Test(root, is_not_left_where_a_sandbox_refuses_openat2)
{
    refuse_openat2(EPERM);
    try_all();
}

Test(root, of_this_process_has_no_bounds)
{
    char text[16];

    cr_expect_gt(
        otelbase_root_read(AT_FDCWD, "/proc/self/stat", text, sizeof(text)), 0);
    cr_expect_eq(otelbase_root_open(AT_FDCWD, "/dev/null"), -EINVAL);
}
