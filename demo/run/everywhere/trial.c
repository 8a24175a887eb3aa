/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/everywhere/trial.h"

#include "demo/run/doctor/program.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEARCH_PATH "/usr/sbin:/usr/bin:/sbin:/bin"
#define PROGRAMS    20
#define WORDS_MAX   8
#define PATIENCE_S  60 /* a program that hangs */
#define OUTPUT_MAX  65536

/* Shells, what repairs a machine, programs with privileges, interpreters. The
 * first twenty that the machine has; each prints the same every time. */
static const char *const candidates[] = {
    "sh -c exit",
    "ls /",
    "cat /etc/passwd",
    "cp --version",
    "mv --version",
    "rm --version",
    "grep root /etc/passwd",
    "sed p /etc/passwd",
    "awk {print} /etc/passwd",
    "sort /etc/passwd",
    "id",
    "env",
    "mount --version",
    "su --version",
    "bash -c exit",
    "ps --version",
    "perl -v",
    "python3 --version",
    "ssh -V",
    "systemctl --version",
    "sudo --version",
    "dpkg --version",
    "rpm --version",
    "tar --version",
    "gzip --version",
    "find /etc/passwd",
    "uname -a",
    "date -u -d @0",
    "sha256sum /etc/passwd",
    "getent passwd root",
    "tail -n 1 /etc/passwd",
    "wc /etc/passwd",
    "curl --version",
    "false",
};

struct program {
    char *words[WORDS_MAX];
    char **argv;
    char text[64];
    struct otelrun_program found;
};

/* How a program ran. */
struct outcome {
    int status; /* of waitpid(2) */
    int out, err;
};

static struct program programs[PROGRAMS + 1], lister;

__attribute__((format(printf, 2, 3))) static bool
fail(struct otelrun_trial *trial, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(trial->why, sizeof(trial->why), format, arguments);
    va_end(arguments);
    return false;
}

/* Returns false if the machine does not have it. */
static bool find(struct program *program, const char *text)
{
    char *rest = program->text;
    size_t count = 0;

    (void)snprintf(program->text, sizeof(program->text), "%s", text);
    while (rest && count < WORDS_MAX - 1)
        program->words[count++] = strsep(&rest, " ");
    program->words[count] = NULL;
    program->argv = program->words;
    return otelrun_program_find(program->words[0], SEARCH_PATH,
                                &program->found) == 0;
}

/* In the child: as a service manager would start it. Does not return. */
static void execute_program(const struct program *program,
                            const struct outcome *o)
{
    static char *const environment[] = {"PATH=" SEARCH_PATH, "LC_ALL=C",
                                        "HOME=/", NULL};
    const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)alarm(PATIENCE_S);
    if (dup2(in, 0) == 0 && dup2(o->out, 1) == 1 && dup2(o->err, 2) == 2)
        (void)execve(program->found.path, program->argv, environment);
    _exit(127);
}

/* Returns 0 or -errno. */
static int run(const struct program *program, struct outcome *o)
{
    pid_t child;

    o->out = memfd_create("out", MFD_CLOEXEC);
    o->err = memfd_create("err", MFD_CLOEXEC);
    if (o->out < 0 || o->err < 0)
        return -errno;
    child = fork();
    if (child == 0)
        execute_program(program, o);
    if (child < 0)
        return -errno;
    return waitpid(child, &o->status, 0) == child ? 0 : -errno;
}

static size_t read_output(int fd, char *out)
{
    const ssize_t got = pread(fd, out, OUTPUT_MAX - 1, 0);

    out[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

/* Describes the first line that differs. */
static bool same_output(int without, int with, const char *stream,
                        struct otelrun_trial *trial)
{
    static char a[OUTPUT_MAX], b[OUTPUT_MAX];
    const size_t a_size = read_output(without, a);
    const size_t b_size = read_output(with, b);
    size_t at = 0;

    if (a_size == b_size && memcmp(a, b, a_size) == 0)
        return true;
    while (at < a_size && at < b_size && a[at] == b[at])
        at++;
    while (at > 0 && b[at - 1] != '\n')
        at--;
    return fail(trial, "with the library %s has: %.*s", stream,
                (int)strcspn(b + at, "\n"), b + at);
}

static bool same_status(int without, int with, struct otelrun_trial *trial)
{
    if (without == with)
        return true;
    if (WIFSIGNALED(with))
        return fail(trial, "with the library signal %d ends it",
                    WTERMSIG(with));
    return fail(trial, "with the library its status is %d, without %d",
                WEXITSTATUS(with), WEXITSTATUS(without));
}

static bool same(const struct outcome *without, const struct outcome *with,
                 struct otelrun_trial *trial)
{
    return same_status(without->status, with->status, trial) &&
           same_output(without->out, with->out, "its standard output", trial) &&
           same_output(without->err, with->err, "its standard error", trial);
}

/* The standard output of `cat /proc/self/maps`. */
static bool check_loaded(const struct outcome *o, const char *library,
                         struct otelrun_trial *trial)
{
    static char maps[OUTPUT_MAX];

    (void)read_output(o->out, maps);
    return strstr(maps, library) ||
           fail(trial, "the dynamic linker does not load the library: that of "
                       "musl does not read /etc/ld.so.preload");
}

static unsigned find_programs(char **command)
{
    unsigned count = 0;

    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++)
        if (count < PROGRAMS && find(&programs[count], candidates[i]))
            count++;
    if (*command && otelrun_program_find(*command, SEARCH_PATH,
                                         &programs[count].found) == 0)
        programs[count++].argv = command;
    return count;
}

/* Puts a draft in the place of the file, for reading only. */
static int put(const struct otelrun_file *file, enum otelrun_draft which)
{
    const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;

    if (mount(file->drafts[which], file->path, NULL, MS_BIND, NULL) != 0)
        return -errno;
    return mount(NULL, file->path, NULL, flags, NULL) == 0 ? 0 : -errno;
}

static int take_away(const struct otelrun_file *file)
{
    return umount2(file->path, MNT_DETACH) == 0 ? 0 : -errno;
}

/* Runs some programs with one of the drafts. Returns 0 or -errno. */
static int run_with(const struct otelrun_file *file, enum otelrun_draft which,
                    const struct program *program, unsigned count,
                    struct outcome *outcomes)
{
    int err = put(file, which);

    if (err != 0)
        return err;
    for (unsigned i = 0; i < count && err == 0; i++)
        err = run(&program[i], &outcomes[i]);
    return err != 0 ? err : take_away(file);
}

/* A program that differs from itself is no witness. */
static bool is_witness(const struct otelrun_file *file, unsigned i,
                       const struct outcome *without)
{
    struct otelrun_trial unused;
    struct outcome again = {.status = 0};

    return run_with(file, OTELRUN_DRAFT_WITHOUT, &programs[i], 1, &again) !=
               0 ||
           same(without, &again, &unused);
}

static bool judge(const struct otelrun_file *file, unsigned count,
                  const struct outcome *without, const struct outcome *with,
                  struct otelrun_trial *trial)
{
    for (unsigned i = 0; i < count; i++) {
        if (same(&without[i], &with[i], trial)) {
            trial->count++;
        } else if (is_witness(file, i, &without[i])) {
            trial->program = programs[i].found.path;
            return false;
        }
    }
    return trial->count > 0 || fail(trial, "no program can be tried");
}

bool otelrun_trial_run(const struct otelrun_file *file, const char *library,
                       char **command, struct otelrun_trial *out)
{
    struct outcome without[PROGRAMS + 1] = {{.status = 0}};
    struct outcome with[PROGRAMS + 1] = {{.status = 0}};
    struct outcome list = {.status = 0};
    const unsigned count = find_programs(command);
    int err = -ENOENT;

    *out = (struct otelrun_trial){.program = NULL};
    if (*command && (count == 0 || programs[count - 1].argv != command))
        return fail(out, "%s: there is no such program", *command);
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return fail(out, "the trial needs a mount namespace: %s",
                    strerror(errno));
    if (find(&lister, "cat /proc/self/maps"))
        err = run_with(file, OTELRUN_DRAFT_NEW, &lister, 1, &list);
    if (err == 0)
        err = run_with(file, OTELRUN_DRAFT_WITHOUT, programs, count, without);
    if (err == 0)
        err = run_with(file, OTELRUN_DRAFT_NEW, programs, count, with);
    if (err != 0)
        return fail(out, "the trial cannot be made: %s", strerror(-err));
    return judge(file, count, without, with, out) &&
           check_loaded(&list, library, out);
}
