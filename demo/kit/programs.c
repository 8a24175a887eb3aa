/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const programs[] = {
    [OTELKIT_PLAIN] = "plain",
    [OTELKIT_EXPORTER] = "exporter",
    [OTELKIT_PIE] = "pie",
};

static const char *libc_of(const struct otelkit_scene *scene)
{
    return scene->musl ? "musl" : "glibc";
}

static const struct otelkit_file *file_find(const struct otelkit_scene *scene,
                                            const char *name)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "%s/%s", libc_of(scene), name);
    for (const struct otelkit_file *file = otelkit_files; file->name; file++) {
        if (strcmp(file->name, path) == 0)
            return file;
    }
    return NULL;
}

static int bytes_write(int fd, const unsigned char *at,
                       const unsigned char *end)
{
    while (at < end) {
        const ssize_t wrote = write(fd, at, (size_t)(end - at));

        if (wrote < 0 && errno != EINTR)
            return -errno;
        at += wrote > 0 ? wrote : 0;
    }
    return 0;
}

static int file_write(const struct otelkit_file *file, const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

    if (fd < 0)
        return -errno;
    const int error = bytes_write(fd, file->start, file->end);
    return close(fd) == 0 ? error : -errno;
}

/* A missing compiler or a full disk is no fault of the reader. */
static int file_place(const struct otelkit_scene *scene, const char *name,
                      struct otelctx_kit_publisher *publisher)
{
    const struct otelkit_file *const file = file_find(scene, name);
    char path[128];

    if (!file) {
        (void)snprintf(publisher->message, sizeof(publisher->message),
                       "built without %s for %s", name, libc_of(scene));
        return -ENOTSUP;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", publisher->folder, name);
    const int error = file_write(file, path);
    if (error != 0)
        (void)snprintf(publisher->message, sizeof(publisher->message),
                       "cannot write %s: %s", path, strerror(-error));
    return error;
}

int otelkit_programs_write(const struct otelkit_scene *scene,
                           struct otelctx_kit_publisher *publisher)
{
    int error;

    (void)snprintf(publisher->folder, sizeof(publisher->folder),
                   "/tmp/otelctx-play.XXXXXX");
    if (!mkdtemp(publisher->folder)) {
        publisher->folder[0] = '\0';
        (void)snprintf(publisher->message, sizeof(publisher->message),
                       "cannot make a folder in /tmp: %s", strerror(errno));
        return -errno;
    }
    error = file_place(scene, programs[scene->program], publisher);
    if (error == 0 && scene->library)
        error = file_place(scene, scene->library, publisher);
    return error;
}

int otelkit_programs_execute(const struct otelkit_scene *scene,
                             const char *folder, int line)
{
    char program[128], library[128], preload[160], descriptor[16];
    char *environment[] = {preload, NULL};
    char name[64];
    char *arguments[] = {program, name, descriptor,
                         scene->opened ? library : NULL, NULL};

    (void)snprintf(program, sizeof(program), "%s/%s", folder,
                   programs[scene->program]);
    (void)snprintf(library, sizeof(library), "%s/%s", folder,
                   scene->library ? scene->library : "");
    (void)snprintf(preload, sizeof(preload), "LD_PRELOAD=%s",
                   scene->library && !scene->opened ? library : "");
    /* Two digits, so that "-1" fits as well. */
    (void)snprintf(descriptor, sizeof(descriptor), "%02d", line);
    (void)snprintf(name, sizeof(name), "%s", scene->about.name);
    (void)execve(program, arguments, environment);
    return -errno;
}

void otelkit_programs_remove(struct otelctx_kit_publisher *publisher)
{
    DIR *const folder =
        publisher->folder[0] != '\0' ? opendir(publisher->folder) : NULL;
    const struct dirent *entry;

    if (!folder)
        return;
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    (void)closedir(folder);
    (void)rmdir(publisher->folder);
    publisher->folder[0] = '\0';
}
