/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/doctor/program.h"

#include "demo/base/root.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Where the kernel gives up, see execve(2). */
#define SCRIPTS_MAX 5

/* Returns 0 or -errno of execve(2), as far as the file tells. */
static int check_executable(const char *path)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return -errno;
    if (!S_ISREG(about.st_mode))
        return -EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : -errno;
}

int otelrun_program_find(const char *command, const char *search_path,
                         struct otelrun_program *out)
{
    const char *rest =
        search_path ? search_path : "/usr/local/bin:/bin:/usr/bin";
    int err = -ENOENT;

    if (*command == '\0')
        return -ENOENT;
    if (strchr(command, '/')) {
        if (strlen(command) >= sizeof(out->path))
            return -ENAMETOOLONG;
        memcpy(out->path, command, strlen(command) + 1);
        return check_executable(out->path);
    }
    for (const char *end; rest; rest = end ? end + 1 : NULL) {
        int length;

        end = strchr(rest, ':');
        length = end ? (int)(end - rest) : (int)strlen(rest);
        length = snprintf(out->path, sizeof(out->path), "%.*s%s%s", length,
                          rest, length > 0 ? "/" : "./", command);
        if ((size_t)length >= sizeof(out->path))
            continue;
        switch (check_executable(out->path)) {
        case 0:
            return 0;
        case -EACCES: /* a later directory may have one */
            err = -EACCES;
            break;
        default:
            break;
        }
    }
    return err;
}

/* The interpreter in "#!" of a script. Returns false if this is none. */
static bool find_interpreter(int fd, char *out, size_t size)
{
    char line[256];
    const ssize_t got = pread(fd, line, sizeof(line) - 1, 0);
    const char *at = line + 2;
    size_t length;

    if (got < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[got] = '\0';
    at += strspn(at, " \t");
    length = strcspn(at, " \t\n");
    if (length == 0 || length >= size)
        return false;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

bool otelrun_program_read(struct otelrun_program *program, int root,
                          struct otelrun_checks *checks)
{
    int err = -ELOOP;

    memcpy(program->file, program->path, sizeof(program->file));
    for (unsigned i = 0; i < SCRIPTS_MAX && err == -ELOOP; i++) {
        const int fd = otelbase_root_open(root, program->file);

        if (fd < 0) {
            err = fd;
            break;
        }
        err = otelrun_elf_read(fd, &program->elf);
        if (err == -ENOEXEC &&
            find_interpreter(fd, program->file, sizeof(program->file)))
            err = -ELOOP;
        (void)close(fd);
    }
    program->is_readable = err == 0;
    if (err == 0 || err == -EACCES) /* not readable, and yet executable */
        return true;
    if (err == -ENOEXEC)
        return otelrun_checks_fail(
            checks, OTELRUN_CHECK_DYNAMIC,
            "give the program that runs this file, as in: sh FILE",
            "%s is neither an ELF program nor a script", program->file);
    return otelrun_checks_fail(checks, OTELRUN_CHECK_DYNAMIC,
                               "install the interpreter, or correct the first "
                               "line of the script",
                               "%s: %s", program->file,
                               otelbase_root_message(err));
}

/* The dynamic linker as a command: "ld.so ./program". */
static bool is_linker(const struct otelrun_program *program)
{
    const char *const slash = strrchr(program->file, '/');
    const char *const name = slash ? slash + 1 : program->file;

    return program->elf.type == ET_DYN &&
           (strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0);
}

static bool check_dynamic(const struct otelrun_program *program,
                          struct otelrun_checks *checks)
{
    const struct otelrun_elf *const elf = &program->elf;

    if (elf->class != ELFCLASS64 && program->is_readable)
        otelrun_checks_pass(checks, OTELRUN_CHECK_DYNAMIC, "%s is for %s",
                            program->file, otelrun_elf_machine(elf));
    else if (!program->is_readable)
        otelrun_checks_pass(checks, OTELRUN_CHECK_DYNAMIC,
                            "%s is not readable, so nothing is known of it",
                            program->file);
    else if (elf->interpreter[0] != '\0')
        otelrun_checks_pass(checks, OTELRUN_CHECK_DYNAMIC, "%s: %s (%s)",
                            program->file, elf->interpreter,
                            otelrun_elf_libc(elf));
    else if (is_linker(program))
        otelrun_checks_pass(checks, OTELRUN_CHECK_DYNAMIC,
                            "%s is a dynamic linker", program->file);
    else
        return otelrun_checks_fail(
            checks, OTELRUN_CHECK_DYNAMIC,
            "link the program dynamically; build Go with cgo",
            "%s is static: no dynamic linker loads a library", program->file);
    return true;
}

/* AT_SECURE, as execve(2) will set it. */
static bool check_privileges(const struct otelrun_program *program,
                             struct otelrun_checks *checks)
{
    const char *what = NULL;
    struct statvfs mount;
    struct stat about;

    if (stat(program->file, &about) != 0)
        return true;
    if ((about.st_mode & S_ISUID) != 0 && about.st_uid != getuid())
        what = "setuid";
    else if ((about.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
             about.st_gid != getgid())
        what = "setgid";
    else if (getuid() != 0 &&
             getxattr(program->file, "security.capability", NULL, 0) > 0)
        what = "a file with capabilities";
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
        (statvfs(program->file, &mount) == 0 &&
         (mount.f_flag & ST_NOSUID) != 0))
        what = NULL;
    if (what)
        return otelrun_checks_fail(
            checks, OTELRUN_CHECK_PRIVILEGES,
            "name the library in /etc/ld.so.preload, and the settings in "
            "/etc/otelctx/otelctx.conf",
            "%s is %s: the dynamic linker ignores LD_PRELOAD", program->file,
            what);
    otelrun_checks_pass(checks, OTELRUN_CHECK_PRIVILEGES, "none gained");
    return true;
}

bool otelrun_program_check(const struct otelrun_program *program,
                           struct otelrun_checks *checks)
{
    if (!check_dynamic(program, checks) || !check_privileges(program, checks))
        return false;
    if (program->elf.asan[0] != '\0')
        return otelrun_checks_fail(
            checks, OTELRUN_CHECK_SANITIZER,
            "set ASAN_OPTIONS=verify_asan_link_order=0 and LD_PRELOAD",
            "%s needs %s, which must be loaded first: the program would end "
            "with status 1",
            program->file, program->elf.asan);
    otelrun_checks_pass(checks, OTELRUN_CHECK_SANITIZER,
                        "none that must be loaded first");
    return true;
}

/* Of an open library; false when a check failed. */
static bool check_file(int fd, const char *path, uid_t user,
                       struct otelrun_checks *checks)
{
    struct statvfs mount;
    struct stat about;

    if (fstat(fd, &about) != 0)
        return otelrun_checks_fail(checks, OTELRUN_CHECK_LIBRARY,
                                   "install it anew", "%s: %s", path,
                                   strerror(errno));
    if (user != 0 && user != about.st_uid && (about.st_mode & S_IROTH) == 0)
        return otelrun_checks_fail(
            checks, OTELRUN_CHECK_LIBRARY, "make it readable: chmod 644",
            "%s: mode %03o, and the program is user "
            "%u's",
            path, about.st_mode & 07777u, (unsigned)user);
    if (fstatvfs(fd, &mount) == 0 && (mount.f_flag & ST_NOEXEC) != 0)
        return otelrun_checks_fail(checks, OTELRUN_CHECK_LIBRARY,
                                   "move it to a mount without noexec",
                                   "%s is on a mount with noexec", path);
    return true;
}

bool otelrun_library_check(const char *path, int root, uid_t user,
                           const struct otelrun_program *program,
                           struct otelrun_checks *checks)
{
    const int fd = otelbase_root_open(root, path);
    struct otelrun_elf elf;
    bool passed;
    int err;

    if (fd < 0)
        return otelrun_checks_fail(
            checks, OTELRUN_CHECK_LIBRARY,
            fd == -EACCES ? "make it readable: chmod 644"
            : fd == -EINVAL
                ? "name the file libotelctx_preload.so"
                : "install the library there, or give its full path",
            "%s: %s", path, otelbase_root_message(fd));
    passed = check_file(fd, path, user, checks);
    err = passed ? otelrun_elf_read(fd, &elf) : 0;
    (void)close(fd);
    if (!passed)
        return false;
    if (err != 0 || elf.type != ET_DYN)
        return otelrun_checks_fail(checks, OTELRUN_CHECK_LIBRARY,
                                   "install it anew", "%s is no library", path);
    otelrun_checks_pass(checks, OTELRUN_CHECK_LIBRARY, "%s", path);
    if (program->is_readable && !otelrun_elf_match(&elf, &program->elf))
        return otelrun_checks_fail(
            checks, OTELRUN_CHECK_ARCHITECTURE,
            "install the library that was built for the program's architecture",
            "the library is for %s, %s for %s", otelrun_elf_machine(&elf),
            program->file, otelrun_elf_machine(&program->elf));
    otelrun_checks_pass(checks, OTELRUN_CHECK_ARCHITECTURE, "%s",
                        otelrun_elf_machine(&elf));
    return true;
}
