/* SPDX-License-Identifier: Apache-2.0 */

/* The ring of thread contexts, which an earlier proposal described. */

#include "shim/wire/ring.h"
#include "demo/kit/scenes/scenes.h"
#include "demo/kit/stage/context.h"
#include "demo/kit/stage/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

struct ring {
    uint32_t capacity;
    uint32_t slots;     /* in memory; 0: as the capacity says */
    uint32_t magic;     /* 0: the right one; likewise: */
    uint32_t version;   /* */
    uint32_t slot_size; /* */
    bool named;
    bool joined;        /* the ring begins within a mapping */
    bool stuck;         /* in_use of the thread's slot */
    bool empty;         /* the ids of the slot are 0 */
    bool moving;        /* the slot changes at full speed */
    const char *answer; /* expected of the thread */
};

static struct otelctx_ring_header *header;

static struct otelctx_ring_slot *slot_of(uint32_t capacity, pid_t tid)
{
    return (struct otelctx_ring_slot *)(header + 1) +
           (capacity != 0 ? (uint32_t)tid % capacity : 0);
}

/* "OTEL Mode: in_use Flag Protocol", for ids of one number. */
static void slot_write(struct otelctx_ring_slot *slot, uint64_t number)
{
    volatile uint64_t *const lock = &slot->lock;

    *lock = OTELCTX_RING_IN_USE;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&slot->trace_id_high, number, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->trace_id_low, number, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->span_id, ~number, __ATOMIC_RELAXED);
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* Inaccessible pages on both sides keep the kernel from joining the ring to
 * other mappings. */
static int map_ring(struct otelkit_stage *stage, const struct ring *ring)
{
    const size_t page = (size_t)getpagesize();
    const size_t slots = ring->slots != 0 ? ring->slots : ring->capacity;
    const size_t bytes =
        sizeof(*header) + slots * sizeof(struct otelctx_ring_slot);
    const size_t size = (bytes + page - 1) / page * page;
    uint8_t *const area =
        mmap(NULL, size + 3 * page, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint8_t *const from = area + (ring->joined ? page : 2 * page);

    if (area == MAP_FAILED ||
        mprotect(from, (size_t)(area + 2 * page + size - from),
                 PROT_READ | PROT_WRITE) != 0)
        return otelkit_stage_refuse(stage, "cannot map memory: %s",
                                    strerror(errno));
    header = (struct otelctx_ring_header *)(void *)(area + 2 * page);
    if (ring->named &&
        prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, (unsigned long)header, size,
              OTELCTX_RING_NAME) != 0)
        return otelkit_stage_refuse(
            stage, "this kernel does not name mappings: %s", strerror(errno));
    otelkit_stage_at(stage, "ring", header);
    return 0;
}

static void expect_ring(struct otelkit_stage *stage, pid_t tid,
                        const struct ring *ring, uint64_t number)
{
    FILE *const out = stage->ring_threads.file;

    (void)fprintf(out, ",{\"tid\":%d,\"answer\":\"%s\"", (int)tid,
                  ring->answer);
    if (ring->moving)
        (void)fprintf(out, ",\"check\":\"paired\"");
    else
        (void)fprintf(out,
                      ",\"trace_id\":\"%016" PRIx64 "%016" PRIx64
                      "\",\"span_id\":\"%016" PRIx64 "\"",
                      number, number, ~number);
    (void)fputc('}', out);
}

static void serve(struct otelkit_worker *worker)
{
    const struct ring *const ring = worker->how;
    struct otelctx_ring_slot *const slot = slot_of(ring->capacity, worker->tid);

    if (!ring->empty)
        slot_write(slot, worker->number);
    if (ring->stuck)
        slot->lock = OTELCTX_RING_IN_USE;
    expect_ring(worker->stage, worker->tid, ring, worker->number);
    if (!ring->moving)
        return;
    otelkit_worker_ready(worker);
    for (uint64_t n = worker->number;; n++)
        slot_write(slot, n);
}

static int publish_ring(struct otelkit_stage *stage, const struct ring *ring)
{
    const int error = map_ring(stage, ring);

    if (error != 0)
        return error;
    header->version = ring->version != 0 ? ring->version : OTELCTX_RING_VERSION;
    header->capacity = ring->capacity;
    header->slot_size = ring->slot_size != 0 ? ring->slot_size
                                             : sizeof(struct otelctx_ring_slot);
    __atomic_store_n(&header->magic,
                     ring->magic != 0 ? ring->magic : OTELCTX_RING_MAGIC,
                     __ATOMIC_RELEASE);
    return 0;
}

static int set_ring(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_worker worker;
    const struct ring *const ring = how;
    const int error = publish_ring(stage, ring);

    worker = (struct otelkit_worker){
        .stage = stage, .run = serve, .how = ring, .number = 0x4711};
    return error != 0 ? error : otelkit_worker_start(&worker);
}

/*
 * The child is process 1 of its namespace: it takes the slot of thread 1, in
 * its copy of the ring.
 */
static int set_in_namespace(struct otelkit_stage *stage, const void *how)
{
    const struct ring *const ring = how;
    int ready[2];
    char byte;
    const int error = publish_ring(stage, ring);

    if (error != 0)
        return error;
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0 || pipe(ready) != 0)
        return otelkit_stage_refuse(stage, "no namespaces here: %s",
                                    strerror(errno));
    stage->pid = fork();
    if (stage->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        slot_write(slot_of(ring->capacity, otelkit_tid()), 0x4711);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    (void)close(ready[1]);
    if (stage->pid < 0 || read(ready[0], &byte, 1) != 1)
        return -ECHILD;
    expect_ring(stage, stage->pid, ring, 0x4711);
    return 0;
}

#define RING(capacity_, ...)                                                   \
    .set = set_ring, .how = &(const struct ring)                               \
    {                                                                          \
        .capacity = (capacity_), __VA_ARGS__                                   \
    }
#define TEXT(section) "OTEL-Compatible Context Storage Architecture, " section
#define FALLBACK      TEXT("Fallback: Magic Number Scanning")
#define LAYOUT        TEXT("Memory Layout")
#define SLOT          TEXT("TID-to-Slot Mapping")
#define IN_USE        TEXT("OTEL Mode: in_use Flag Protocol")
#define STAGED        .answer = OTELKIT_NONE
#define USUAL         OTELCTX_RING_CAPACITY

const struct otelkit_scene otelkit_ring_scenes[] = {
    {OTELKIT_ABOUT("ring/by-magic", "a ring without a name",
                   "the context of a thread", FALLBACK),
     RING(USUAL, .answer = "context"), STAGED},
    {OTELKIT_ABOUT("ring/by-name", "a ring with a name",
                   "the context of a thread",
                   TEXT("Linux: Named Anonymous Mappings")),
     RING(USUAL, .named = true, .answer = "context"), STAGED},
    {OTELKIT_ABOUT("ring/joined", "a ring behind other memory, without a name",
                   "either: it begins within a mapping", FALLBACK),
     RING(USUAL, .joined = true, .answer = "either"), STAGED},
    {OTELKIT_ABOUT("ring/joined-named", "a ring behind other memory, named",
                   "the context of a thread",
                   TEXT("Linux: Named Anonymous Mappings")),
     RING(USUAL, .joined = true, .named = true, .answer = "context"), STAGED},
    {OTELKIT_ABOUT("ring/capacity-1", "a ring of one slot",
                   "the context of a thread", SLOT),
     RING(1, .answer = "either"), STAGED},
    {OTELKIT_ABOUT("ring/capacity-1000", "a ring of 1,000 slots",
                   "the context of a thread: modulo, not a mask", SLOT),
     RING(1000, .answer = "context"), STAGED},
    {OTELKIT_ABOUT("ring/capacity-0", "a ring of no slots", "none", LAYOUT),
     RING(0, .slots = 1, .answer = "none"), STAGED},
    {OTELKIT_ABOUT("ring/capacity-too-large",
                   "a capacity of 2^32 - 1, in memory for 1,000",
                   "none: the slots are not there", LAYOUT),
     RING(UINT32_MAX, .slots = 1000, .empty = true, .answer = "none"), STAGED},
    {OTELKIT_ABOUT("ring/slot-size-64", "a slot size of 64", "none", FALLBACK),
     RING(USUAL, .slot_size = 64, .answer = "none"), STAGED},
    {OTELKIT_ABOUT("ring/version-2", "version 2", "none", FALLBACK),
     RING(USUAL, .version = 2, .answer = "none"), STAGED},
    {OTELKIT_ABOUT("ring/magic-swapped", "a big-endian magic number", "none",
                   FALLBACK),
     RING(USUAL, .magic = 0x4c45544f, .answer = "none"), STAGED},
    {OTELKIT_ABOUT("ring/in-use", "a slot that stays in use", "none", IN_USE),
     RING(USUAL, .stuck = true, .answer = "none"), STAGED},
    {OTELKIT_ABOUT("ring/empty", "a slot of zeros", "none", LAYOUT),
     RING(USUAL, .empty = true, .answer = "none"), STAGED},
    {OTELKIT_ABOUT("ring/namespace", "a ring in a nested pid namespace",
                   "the context of a thread: the slot of the id it has there",
                   SLOT),
     .set = set_in_namespace,
     .how = &(const struct ring){.capacity = USUAL, .answer = "context"},
     STAGED},
    {OTELKIT_ABOUT("ring/moving", "a slot that is written at full speed",
                   "either: one context, of one piece", IN_USE),
     RING(USUAL, .moving = true, .answer = "either"), STAGED},
    {.about = {.name = NULL}},
};
