/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/stage/context.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

uint64_t otelkit_boottime_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

void otelkit_sleep_ms(long ms)
{
    const struct timespec duration = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&duration, NULL);
}

static void *map_memfd(const char *name, size_t size)
{
    void *at = MAP_FAILED;
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        (void)close(fd);
    return at;
}

int otelkit_map(struct otelkit_stage *stage, enum otelkit_mapping kind,
                const char *name, size_t pages, struct otelctx_header **out)
{
    const size_t size = pages * (size_t)getpagesize();
    void *const at = kind == OTELKIT_MEMFD || kind == OTELKIT_MEMFD_NAMED
                         ? map_memfd(name, size)
                         : mmap(NULL, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED || madvise(at, size, MADV_DONTFORK) != 0)
        return otelkit_stage_refuse(stage, "cannot map memory: %s",
                                    strerror(errno));
    if ((kind == OTELKIT_MEMFD_NAMED || kind == OTELKIT_ANONYMOUS_NAMED) &&
        prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, (unsigned long)at, size,
              name) != 0)
        return otelkit_stage_refuse(
            stage, "this kernel does not name mappings: %s", strerror(errno));
    otelkit_stage_at(stage, "header", at);
    *out = at;
    return 0;
}

struct otelctx_header otelkit_header(const void *payload, size_t size)
{
    return (struct otelctx_header){
        .signature = OTELCTX_SIGNATURE,
        .version = OTELCTX_HEADER_VERSION,
        .payload_size = (uint32_t)size,
        .published_at_ns = otelkit_boottime_ns(),
        .payload = (uintptr_t)payload,
    };
}

/* Stores the word last and in one piece, as readers load it. */
static void timestamp_store(struct otelctx_header *at, uint64_t time_ns)
{
    __atomic_store_n(&at->published_at_ns, time_ns, __ATOMIC_SEQ_CST);
    atomic_thread_fence(memory_order_seq_cst);
}

void otelkit_write(struct otelctx_header *at, struct otelctx_header header)
{
    const uint64_t time_ns = header.published_at_ns;

    header.published_at_ns = 0;
    *at = header;
    atomic_thread_fence(memory_order_seq_cst);
    timestamp_store(at, time_ns);
}

void otelkit_update(struct otelctx_header *at, struct otelctx_header header)
{
    const uint64_t last_ns = at->published_at_ns;

    timestamp_store(at, 0);
    at->payload = header.payload;
    at->payload_size = header.payload_size;
    atomic_thread_fence(memory_order_seq_cst);
    timestamp_store(at, header.published_at_ns > last_ns
                            ? header.published_at_ns
                            : last_ns + 1);
}

int otelkit_publish_bytes(struct otelkit_stage *stage,
                          const struct otelkit_bytes *bytes,
                          struct otelctx_header **out)
{
    struct otelctx_header *at = NULL;
    const int error =
        otelkit_map(stage, OTELKIT_MEMFD, OTELCTX_MAPPING_NAME, 1, &at);

    if (error != 0 || !at)
        return error;
    otelkit_stage_at(stage, "payload", bytes->at);
    otelkit_write(at, otelkit_header(bytes->at, bytes->size));
    if (out)
        *out = at;
    return 0;
}

int otelkit_publish_shop(struct otelkit_stage *stage,
                         struct otelctx_header **out)
{
    static struct otelkit_bytes shop;
    struct otelctx_header *at = NULL;
    const int error =
        otelkit_map(stage, OTELKIT_MEMFD, OTELCTX_MAPPING_NAME, 1, &at);

    if (error != 0 || !at)
        return error;
    shop.size = 0;
    otelkit_service(&shop, "shop");
    memcpy(at + 1, shop.at, shop.size);
    otelkit_write(at, otelkit_header(at + 1, shop.size));
    if (out)
        *out = at;
    return 0;
}

int otelkit_go_on(void *(*what)(void *argument), void *argument)
{
    pthread_t thread;
    const int error = pthread_create(&thread, NULL, what, argument);

    return error != 0 ? -error : -pthread_detach(thread);
}
