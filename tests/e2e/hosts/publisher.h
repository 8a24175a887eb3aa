/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Another publisher of a process context (OTEP 4719): what SDKs do, by words:
 *
 *     other libc   other raw    a mapping of its own, named through libc's
 *                               prctl or past it, with other=publisher
 *     repoint libc repoint raw  the header that is there is made to point at a
 *                               payload of its own, as dd-trace-dotnet does
 *     rename libc               the mapping that is there is named once more
 *     stray libc   stray raw    a mapping of zeros, with the name
 *     vain libc    vain raw     a mapping that only naming would let readers
 *                               find; unmapped when that is done
 *     gone                      drops the mapping of its own
 *     restore                   the mapping that is there is memory without a
 *                               file now, as a checkpointer restores it
 *     theirs                    0: that memory is as they left it
 */

#include "shim/wire/process.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* Resource { KeyValue { "other", "publisher" } } */
static const char publisher_payload[] = "\n\x16\n\x14\n\5other\x12\v\n\t"
                                        "publisher";

/* Where it wrote, and what. */
static struct otelctx_header *publisher_at, publisher_wrote;

static void publisher_name(bool raw)
{
    const char *const name = OTELCTX_MAPPING_NAME;
    const size_t size = (size_t)getpagesize();
    unsigned long at;

    memcpy(&at, &publisher_at, sizeof(at));
    if (raw)
        (void)syscall(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, size,
                      name);
    else
        (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, size, name);
}

/* "Publication Protocol", steps 5 to 10; also for an update, which differs in
 * nothing that matters here. */
static int publisher_publish(struct otelctx_header *at, bool raw)
{
    struct timespec now;
    const char *const payload = publisher_payload;

    clock_gettime(CLOCK_BOOTTIME, &now);
    publisher_at = at;
    publisher_wrote = (struct otelctx_header){
        .signature = OTELCTX_SIGNATURE,
        .version = OTELCTX_HEADER_VERSION,
        .payload_size = sizeof(publisher_payload) - 1,
        .published_at_ns =
            (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
    };
    memcpy(&publisher_wrote.payload, &payload, sizeof(payload));
    *at = publisher_wrote;
    publisher_name(raw);
    return 0;
}

/* A page of zeros, found by its file's name. */
static int publisher_map(void **at)
{
    const size_t size = (size_t)getpagesize();
    const int fd = (int)syscall(SYS_memfd_create, OTELCTX_MAPPING_NAME, 1u);

    if (fd < 0 || ftruncate(fd, (off_t)size))
        return -errno;
    *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    return *at == MAP_FAILED || madvise(*at, size, MADV_DONTFORK) ? -errno : 0;
}

static int publisher_other(bool raw)
{
    void *at = NULL;
    const int err = publisher_map(&at);

    return err || !at ? err : publisher_publish(at, raw);
}

/* It bears the name, and no context. */
static int publisher_stray(bool raw)
{
    void *at = NULL;
    const int err = publisher_map(&at);

    if (err || !at)
        return err;
    publisher_at = at;
    publisher_wrote = *publisher_at;
    publisher_name(raw);
    return 0;
}

/* OTEP 4719, "Publication Protocol", without a memfd. When the kernel cannot
 * name the mapping, no reader finds it, and it is unmapped. */
static int publisher_in_vain(bool raw)
{
    const size_t size = (size_t)getpagesize();
    void *const at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED || publisher_publish(at, raw) || munmap(at, size)
               ? -errno
               : 0;
}

/* OTEP 4719, "Context Drop". */
static int publisher_drop(void)
{
    publisher_at->published_at_ns = 0;
    memset(publisher_at->signature, 0, sizeof(publisher_at->signature));
    return munmap(publisher_at, (size_t)getpagesize()) ? -errno : 0;
}

/* The first mapping that has the name. */
static struct otelctx_header *publisher_find(void)
{
    FILE *const maps = fopen("/proc/self/maps", "re");
    char line[512];
    unsigned long at = 0;
    void *found;

    while (maps && at == 0 && fgets(line, sizeof(line), maps))
        if (strstr(line, OTELCTX_MAPPING_NAME))
            (void)sscanf(line, "%lx-", &at);
    if (maps)
        fclose(maps);
    memcpy(&found, &at, sizeof(found));
    return found;
}

static int publisher_repoint(bool raw)
{
    struct otelctx_header *const at = publisher_find();

    return at ? publisher_publish(at, raw) : -ENOENT;
}

static int publisher_rename(bool raw)
{
    publisher_at = publisher_find();
    if (!publisher_at)
        return -ENOENT;
    publisher_wrote = *publisher_at;
    publisher_name(raw);
    return 0;
}

static int publisher_restore(void)
{
    const size_t size = (size_t)getpagesize();
    void *const at = publisher_find();
    char page[1 << 16];

    if (!at || size > sizeof(page))
        return -ENOENT;
    memcpy(page, at, size);
    if (mmap(at, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
        return -errno;
    memcpy(at, page, size);
    return 0;
}

static int publisher_is_as_it_was(void)
{
    return publisher_at && memcmp(publisher_at, &publisher_wrote,
                                  sizeof(publisher_wrote)) == 0
               ? 0
               : -ESTALE;
}

static int publisher_does(const char *what, const char *how)
{
    const bool raw = how && strcmp(how, "raw") == 0;
    const int saved = errno;
    int result = -EINVAL;

    if (strcmp(what, "other") == 0)
        result = publisher_other(raw);
    else if (strcmp(what, "repoint") == 0)
        result = publisher_repoint(raw);
    else if (strcmp(what, "rename") == 0)
        result = publisher_rename(raw);
    else if (strcmp(what, "stray") == 0)
        result = publisher_stray(raw);
    else if (strcmp(what, "vain") == 0)
        result = publisher_in_vain(raw);
    else if (strcmp(what, "gone") == 0)
        result = publisher_drop();
    else if (strcmp(what, "restore") == 0)
        result = publisher_restore();
    else if (strcmp(what, "theirs") == 0)
        result = publisher_is_as_it_was();
    errno = saved;
    return result;
}
