/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TEST_PUBLISHER_H
#define OTELCTX_TEST_PUBLISHER_H

/*
 * Another publisher of a process context (OTEP 4719): what SDKs do, by words:
 *
 *     other libc   other raw    a mapping of its own, named through libc's
 *                               prctl or past it, with other=publisher
 *     repoint libc repoint raw  the header that is there is made to point at a
 *                               payload of its own, as dd-trace-dotnet does
 *     rename libc               the mapping that is there is named once more
 *     theirs                    0: that memory is as they left it
 */

#include "shim/wire.h"

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

/* "Publication Protocol", steps 5 to 10; an update differs in no way that
 * matters here. */
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

static int publisher_other(bool raw)
{
    const size_t size = (size_t)getpagesize();
    const int fd = (int)syscall(SYS_memfd_create, OTELCTX_MAPPING_NAME, 1u);
    void *at;

    if (fd < 0 || ftruncate(fd, (off_t)size))
        return -errno;
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    if (at == MAP_FAILED || madvise(at, size, MADV_DONTFORK))
        return -errno;
    return publisher_publish(at, raw);
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
    else if (strcmp(what, "theirs") == 0)
        result = publisher_is_as_it_was();
    errno = saved;
    return result;
}

#endif
