/* SPDX-License-Identifier: Apache-2.0 */

/* A file with the name that only memfds are meant to have. */

#include "demo/kit/scenes/scenes.h"
#include "demo/kit/stage/context.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_fsopen /* libcs older than Linux 5.2; one number on all machines   \
                    */
#define SYS_fsopen   430
#define SYS_fsconfig 431
#define SYS_fsmount  432
#endif
enum {
    CONFIG_CREATE = 6 /* FSCONFIG_CMD_CREATE in linux/mount.h */
};

static bool text_write(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && write(fd, text, strlen(text)) > 0;

    if (fd >= 0)
        (void)close(fd);
    return written;
}

/* Enters namespaces in which the process may mount, and create files. */
static bool enter_namespaces(void)
{
    char uid[32], gid[32];

    (void)snprintf(uid, sizeof(uid), "0 %u 1", (unsigned)geteuid());
    (void)snprintf(gid, sizeof(gid), "0 %u 1", (unsigned)getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           text_write("/proc/self/setgroups", "deny") &&
           text_write("/proc/self/uid_map", uid) &&
           text_write("/proc/self/gid_map", gid);
}

/* A file in a file system that is mounted nowhere. Its name is /memfd:OTEL_CTX;
 * a real memfd's ends in " (deleted)". */
static int map_unmounted_file(struct otelkit_stage *stage,
                              struct otelctx_header **out)
{
    const size_t page = (size_t)getpagesize();
    void *at = MAP_FAILED;

    if (!enter_namespaces())
        return otelkit_stage_refuse(stage, "no namespaces here: %s",
                                    strerror(errno));
    const int system = (int)syscall(SYS_fsopen, "tmpfs", 0);
    (void)syscall(SYS_fsconfig, system, CONFIG_CREATE, NULL, NULL, 0);
    const int mount = (int)syscall(SYS_fsmount, system, 0, 0);
    const int file =
        openat(mount, "memfd:" OTELCTX_MAPPING_NAME, O_CREAT | O_RDWR, 0600);
    if (file >= 0 && ftruncate(file, (off_t)page) == 0)
        at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (at == MAP_FAILED)
        return otelkit_stage_refuse(stage, "no tmpfs of its own: %s",
                                    strerror(errno));
    otelkit_stage_at(stage, "header", at);
    *out = at;
    return 0;
}

static int set_file(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_bytes shop;
    struct otelctx_header *at = NULL;
    const int error = map_unmounted_file(stage, &at);

    (void)how;
    if (error != 0)
        return error;
    otelkit_service(&shop, "shop");
    otelkit_write(at, otelkit_header(shop.at, shop.size));
    return 0;
}

const struct otelkit_scene otelkit_file_scenes[] = {
    {OTELKIT_ABOUT("mapping/file", "a file with the name of a memfd",
                   "the context: the name has no (deleted)",
                   OTELKIT_READING ", step 1"),
     .set = set_file, .answer = OTELKIT_CONTEXT, .resource = OTELKIT_SHOP},
    {.about = {.name = NULL}},
};
