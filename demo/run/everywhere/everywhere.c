/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/everywhere/everywhere.h"

#include "demo/base/escape.h"
#include "demo/base/root.h"
#include "demo/run/doctor/program.h"
#include "demo/run/doctor/settings.h"
#include "demo/run/doctor/usual.h"
#include "demo/run/everywhere/file.h"
#include "demo/run/everywhere/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_PATH "/etc/ld.so.preload"
#define NOBODY    65534

static struct otelrun_file file;

static bool complain_of(const char *subject, const char *why)
{
    (void)fputs("otelctx-run: ", stderr);
    otelbase_escape_print(stderr, subject, strlen(subject));
    (void)fputs(": ", stderr);
    otelbase_escape_print(stderr, why, strlen(why));
    (void)fputc('\n', stderr);
    return false;
}

static bool complain_of_link(void)
{
    char why[PATH_MAX + 64], target[PATH_MAX] = "";

    if (readlink(FILE_PATH, target, sizeof(target) - 1) < 0)
        (void)snprintf(target, sizeof(target), "a file");
    (void)snprintf(why, sizeof(why),
                   "a symbolic link to %s, which does not exist", target);
    return complain_of(FILE_PATH, why);
}

static bool complain_of_file(int err)
{
    if (err == -ENOLINK)
        return complain_of_link();
    return complain_of(FILE_PATH, err == -ESTALE ? "it has changed meanwhile"
                                  : err == -EFBIG
                                      ? "it has more than 65536 bytes"
                                      : otelbase_root_message(err));
}

static bool complain_of_trial(const struct otelrun_trial *trial)
{
    char subject[PATH_MAX + 32];

    (void)snprintf(subject, sizeof(subject), "not installed%s%s",
                   trial->program ? ": " : "",
                   trial->program ? trial->program : "");
    return complain_of(subject, trial->why);
}

/* Programs with privileges will load it: nobody but root may replace it. */
static bool check_owners(const char *path)
{
    char part[PATH_MAX];
    struct stat about;

    for (size_t size = 1; size <= strlen(path); size++) {
        if (size > 1 && path[size] != '/' && path[size] != '\0')
            continue;
        (void)snprintf(part, sizeof(part), "%.*s", (int)size, path);
        if (stat(part, &about) != 0)
            return complain_of(part, strerror(errno));
        if (about.st_uid != 0 || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
            return complain_of(part, "others than root can write here, and "
                                     "programs of root would load the library");
        if (S_ISDIR(about.st_mode) && (about.st_mode & S_IXOTH) == 0)
            return complain_of(part, "not every user can look into it");
    }
    return true;
}

/* Is it a library that the dynamic linker can load into a shell? */
static bool check_library(const char *path)
{
    struct otelrun_checks checks = {.of = {{.state = OTELRUN_NOT_ASKED}}};
    const struct otelrun_check *failed;
    static struct otelrun_program shell;

    if (otelrun_program_find("/bin/sh", NULL, &shell) == 0)
        (void)otelrun_program_read(&shell, AT_FDCWD, &checks);
    if (otelrun_library_check(path, AT_FDCWD, NOBODY, &shell, &checks))
        return true;
    failed = otelrun_checks_failed(&checks);
    return complain_of(failed->found, failed->advice);
}

static const char *refuse_path(const char *path, const char *why)
{
    (void)complain_of(path, why);
    return NULL;
}

/* Its path without symbolic links, or NULL. */
static const char *check_path(const char *library)
{
    static char path[PATH_MAX];
    const char *name;

    if (!library)
        return refuse_path(OTELRUN_LIBRARY,
                           "there is none: name it with --library");
    if (library[0] != '/')
        return refuse_path(library, "expected an absolute path");
    if (!realpath(library, path))
        return refuse_path(library, strerror(errno));
    name = strrchr(path, '/') + 1;
    if (strcmp(name, OTELRUN_LIBRARY) != 0)
        return refuse_path(path, "expected a file named " OTELRUN_LIBRARY);
    if (strpbrk(path, " :\t\n#"))
        return refuse_path(path, FILE_PATH " cannot name such a path");
    return check_library(path) && check_owners(path) ? path : NULL;
}

/* Writes the two files of the trial. */
static int write_drafts(const char *library)
{
    static struct otelrun_preload text;
    int err = otelrun_file_place(&file);

    text = file.old;
    (void)otelrun_preload_remove(&text);
    if (err == 0)
        err = otelrun_file_draft(&file, OTELRUN_DRAFT_WITHOUT, &text);
    if (err == 0 && !otelrun_preload_add(&text, library))
        err = -EFBIG;
    if (err == 0)
        err = otelrun_file_draft(&file, OTELRUN_DRAFT_NEW, &text);
    return err;
}

/* With the file open. */
static bool install(const char *library, char **command)
{
    struct otelrun_trial trial;
    int err = write_drafts(library);

    if (err != 0)
        return complain_of_file(err);
    if (!otelrun_trial_run(&file, library, command, &trial))
        return complain_of_trial(&trial);
    err = otelrun_file_replace(&file);
    if (err != 0)
        return complain_of_file(err);
    printf(FILE_PATH " names %s: %u programs ran as without it\n", library,
           trial.count);
    return true;
}

/* With the entries taken out. */
static int put_back(const struct otelrun_preload *text)
{
    int err;

    if (text->size == 0)
        return otelrun_file_remove(&file);
    err = otelrun_file_draft(&file, OTELRUN_DRAFT_NEW, text);
    return err != 0 ? err : otelrun_file_replace(&file);
}

/* A terminal's ^C must not leave a draft. The programs of a trial get it. */
static void hold_signals(void)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
}

/* `sleep` would show up as a service of the machine. */
static void warn_of_publishing(void)
{
    (void)fflush(stdout);
    if (!otelrun_settings_publish_configured())
        (void)fputs("otelctx-run: warn: /etc/otelctx/otelctx.conf does not set "
                    "OTELCTX_PUBLISH=configured: every program publishes, such "
                    "as sleep with the name unknown_service:sleep\n",
                    stderr);
}

bool otelrun_everywhere_install(const char *library, char **command)
{
    const char *const path = check_path(library);
    bool is_done;
    int err;

    if (!path)
        return false;
    err = otelrun_file_open(&file, FILE_PATH);
    if (err != 0)
        return complain_of_file(err);
    if (otelrun_preload_names(&file.old, path)) {
        printf(FILE_PATH " names %s already\n", path);
        warn_of_publishing();
        return true;
    }
    hold_signals();
    is_done = install(path, command);
    otelrun_file_abandon(&file);
    if (is_done)
        warn_of_publishing();
    return is_done;
}

bool otelrun_everywhere_remove(void)
{
    static struct otelrun_preload text;
    int err = otelrun_file_open(&file, FILE_PATH);

    if (err != 0)
        return complain_of_file(err);
    text = file.old;
    if (otelrun_preload_remove(&text) == 0) {
        puts(FILE_PATH " does not name " OTELRUN_LIBRARY);
        return true;
    }
    hold_signals();
    err = put_back(&text);
    otelrun_file_abandon(&file);
    if (err != 0)
        return complain_of_file(err);
    puts(FILE_PATH " no longer names " OTELRUN_LIBRARY);
    return true;
}
