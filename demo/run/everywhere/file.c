/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/everywhere/file.h"

#include "demo/base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads at most the size of `out`; -EFBIG if the file has more. */
static int read_text(int fd, struct otelrun_preload *out)
{
    ssize_t got = 1;
    char more;

    out->size = 0;
    while (got > 0 && out->size < sizeof(out->text)) {
        got = read(fd, out->text + out->size, sizeof(out->text) - out->size);
        if (got > 0)
            out->size += (size_t)got;
    }
    if (got > 0)
        return read(fd, &more, 1) > 0 ? -EFBIG : 0;
    return got < 0 ? -errno : 0;
}

/* Returns 0, -ENOENT or another -errno. */
static int read_file(const char *path, struct otelrun_preload *out,
                     struct stat *about)
{
    const int fd = otelbase_root_open(AT_FDCWD, path);
    int err = 0;

    out->size = 0;
    if (fd < 0)
        return fd;
    if (fstat(fd, about) != 0)
        err = -errno;
    if (err == 0)
        err = read_text(fd, out);
    (void)close(fd);
    return err;
}

int otelrun_file_open(struct otelrun_file *file, const char *path)
{
    int err;

    file->is_placed = false;
    for (unsigned i = 0; i < OTELRUN_DRAFT_COUNT; i++)
        file->drafts[i] = NULL;
    if (!realpath(path, file->path))
        (void)snprintf(file->path, sizeof(file->path), "%s", path);
    err = read_file(file->path, &file->old, &file->about);
    file->exists = err == 0;
    if (err == -ENOENT && readlink(path, file->path, 1) >= 0)
        return -ENOLINK;
    if (err == -ENOENT)
        file->about = (struct stat){.st_mode = 0644};
    return err == -ENOENT ? 0 : err;
}

int otelrun_file_place(struct otelrun_file *file)
{
    int fd;

    if (file->exists)
        return 0;
    fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    file->is_placed = true;
    return close(fd) == 0 ? 0 : -errno;
}

/* The owner before the mode: chown(2) takes set-user-ID bits. */
static int fill(int fd, const struct otelrun_preload *text,
                const struct stat *about)
{
    size_t done = 0;

    while (done < text->size) {
        const ssize_t got = write(fd, text->text + done, text->size - done);

        if (got < 0)
            return -errno;
        done += (size_t)got;
    }
    if (fchown(fd, about->st_uid, about->st_gid) != 0 ||
        fchmod(fd, about->st_mode & 07777) != 0 || fsync(fd) != 0)
        return -errno;
    return 0;
}

int otelrun_file_draft(struct otelrun_file *file, enum otelrun_draft which,
                       const struct otelrun_preload *text)
{
    char *draft;
    int fd, err;

    if (asprintf(&draft, "%s.otelctx-%u-%d", file->path, (unsigned)which,
                 (int)getpid()) < 0)
        return -ENOMEM;
    fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        err = -errno;
        free(draft);
        return err;
    }
    file->drafts[which] = draft;
    err = fill(fd, text, &file->about);
    if (close(fd) != 0 && err == 0)
        err = -errno;
    return err;
}

static int check_unchanged(const struct otelrun_file *file)
{
    static struct otelrun_preload now;
    struct stat about;
    const int err = read_file(file->path, &now, &about);

    if (err != 0 && (err != -ENOENT || file->exists))
        return err;
    return now.size == file->old.size &&
                   memcmp(now.text, file->old.text, now.size) == 0
               ? 0
               : -ESTALE;
}

int otelrun_file_replace(struct otelrun_file *file)
{
    const int err = check_unchanged(file);

    if (err != 0)
        return err;
    if (rename(file->drafts[OTELRUN_DRAFT_NEW], file->path) != 0)
        return -errno;
    file->drafts[OTELRUN_DRAFT_NEW] = NULL;
    file->is_placed = false;
    return 0;
}

int otelrun_file_remove(struct otelrun_file *file)
{
    const int err = check_unchanged(file);

    if (err != 0)
        return err;
    return unlink(file->path) == 0 ? 0 : -errno;
}

void otelrun_file_abandon(struct otelrun_file *file)
{
    for (unsigned i = 0; i < OTELRUN_DRAFT_COUNT; i++)
        if (file->drafts[i])
            (void)unlink(file->drafts[i]);
    if (file->is_placed && check_unchanged(file) == 0)
        (void)unlink(file->path);
}
