/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Contexts that change while they are read. Update number n has 1 + n % 40
 * attributes, each with the value n: the answer of a reader shows whether it is
 * of one piece.
 */

#include "demo/kit/scenes/scenes.h"
#include "demo/kit/stage/context.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    AREA_SIZE = 65536,
    AREAS = 3,
    UNKNOWN_FIELD = 3000,
    UNKNOWN_SIZE = 60000
};

static struct otelctx_header *header;
static uint8_t *areas[AREAS];
static uint32_t sizes[AREAS];
static bool has_unknown;

/* A right reader skips this part, which takes long to read. */
static void encode_unknown(struct otelkit_bytes *bytes)
{
    static uint8_t zeros[UNKNOWN_SIZE];
    const size_t field = otelkit_open(bytes, UNKNOWN_FIELD);

    otelkit_put(bytes, zeros, sizeof(zeros));
    otelkit_close(bytes, field);
}

/* Encodes update number n into its area. */
static size_t encode(unsigned n)
{
    static struct otelkit_bytes bytes;
    char key[16], value[16];

    bytes.size = 0;
    (void)snprintf(value, sizeof(value), "%u", n);
    const size_t resource = otelkit_open(&bytes, OTELKIT_CONTEXT_RESOURCE);
    for (unsigned i = 0; i < 1 + n % 40; i++) {
        if (has_unknown && i == 20)
            encode_unknown(&bytes);
        (void)snprintf(key, sizeof(key), "k%u", i);
        otelkit_pair(&bytes, OTELKIT_RESOURCE_ATTRIBUTES, key, value);
    }
    otelkit_close(&bytes, resource);
    memcpy(areas[n % AREAS], bytes.at, bytes.size);
    sizes[n % AREAS] = (uint32_t)bytes.size;
    return bytes.size;
}

static struct otelctx_header number(unsigned n)
{
    const size_t size = encode(n);

    return otelkit_header(areas[n % AREAS], size);
}

static int begin(struct otelkit_stage *stage)
{
    int error =
        otelkit_map(stage, OTELKIT_MEMFD, OTELCTX_MAPPING_NAME, 1, &header);

    for (int i = 0; i < AREAS && error == 0; i++) {
        areas[i] = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        error = areas[i] != MAP_FAILED ? 0 : -ENOMEM;
    }
    if (error == 0)
        otelkit_write(header, number(1));
    return error;
}

static void pause_us(long us)
{
    const struct timespec duration = {0, us * 1000};

    if (us > 0)
        (void)nanosleep(&duration, NULL);
}

static void *storm(void *how)
{
    const long *const us = how;

    for (unsigned n = 2;; n++) {
        otelkit_update(header, number(n));
        pause_us(*us);
    }
    return NULL;
}

/* While the timestamp is 0, the last value of the payload is another one. */
static void *hold_open(void *unused)
{
    (void)unused;
    for (unsigned n = 2;; n++) {
        const struct otelctx_header next = number(n);
        uint8_t *const digit = &areas[n % AREAS][sizes[n % AREAS] - 1];

        *digit ^= 1; /* another digit */
        __atomic_store_n(&header->published_at_ns, 0, __ATOMIC_SEQ_CST);
        header->payload = next.payload;
        header->payload_size = next.payload_size;
        otelkit_sleep_ms(25);
        *digit ^= 1;
        __atomic_store_n(&header->published_at_ns, next.published_at_ns,
                         __ATOMIC_SEQ_CST);
        otelkit_sleep_ms(25);
    }
    return NULL;
}

/* The clock went back before each update; each timestamp differs from the one
 * before. */
static void *go_back(void *unused)
{
    (void)unused;
    for (unsigned n = 2;; n++) {
        const struct otelctx_header next = number(n);

        __atomic_store_n(&header->published_at_ns, 0, __ATOMIC_SEQ_CST);
        header->payload = next.payload;
        header->payload_size = next.payload_size;
        __atomic_store_n(&header->published_at_ns, UINT32_MAX - n,
                         __ATOMIC_SEQ_CST);
        pause_us(1000);
    }
    return NULL;
}

/* No zero window, and one timestamp for all updates. */
static void *tear(void *unused)
{
    (void)unused;
    for (unsigned n = 2;; n++) {
        const struct otelctx_header next = number(n);

        header->payload = next.payload;
        pause_us(100);
        header->payload_size = next.payload_size;
        pause_us(100);
    }
    return NULL;
}

/* The zero window is kept, and the timestamp comes back as it was. */
static void *repeat(void *unused)
{
    const uint64_t time_ns = header->published_at_ns;

    (void)unused;
    for (unsigned n = 2;; n++) {
        const struct otelctx_header next = number(n);

        __atomic_store_n(&header->published_at_ns, 0, __ATOMIC_SEQ_CST);
        header->payload = next.payload;
        header->payload_size = next.payload_size;
        __atomic_store_n(&header->published_at_ns, time_ns, __ATOMIC_SEQ_CST);
        pause_us(200);
    }
    return NULL;
}

/* Each update has the same size and address, and writes first the bytes that
 * readers copy last. A reader that still copies when the next window opens gets
 * parts of two updates. A longer pause now and then lets readers that retry
 * succeed. */
static void *rewrite(void *unused)
{
    const size_t half = sizes[0] / 2;

    (void)unused;
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    for (unsigned n = 1;; n++) {
        const uint8_t *const next = areas[n % 2];

        __atomic_store_n(&header->published_at_ns, 0, __ATOMIC_SEQ_CST);
        memcpy(areas[2] + half, next + half, sizes[0] - half);
        pause_us(60);
        memcpy(areas[2], next, half);
        __atomic_store_n(&header->published_at_ns, otelkit_boottime_ns(),
                         __ATOMIC_SEQ_CST);
        pause_us(n % 64 == 0 ? 1000 : 20);
    }
    return NULL;
}

/* Each update unmaps the previous payload at once. */
static void *unmap(void *unused)
{
    (void)unused;
    for (unsigned n = 2;; n++) {
        const unsigned old = (n - 1) % AREAS;
        void *const fresh = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (fresh == MAP_FAILED)
            return NULL;
        areas[n % AREAS] = fresh;
        otelkit_update(header, number(n));
        (void)munmap(areas[old], AREA_SIZE);
        pause_us(20);
    }
    return NULL;
}

/* The context is dropped, and published again in another page. */
static void *move(void *stage)
{
    for (unsigned n = 2;; n++) {
        struct otelctx_header *const old = header;

        old->published_at_ns = 0;
        memset(old->signature, 0, sizeof(old->signature));
        if (otelkit_map(stage, OTELKIT_MEMFD, OTELCTX_MAPPING_NAME, 1,
                        &header) != 0)
            return NULL;
        otelkit_write(header, number(n));
        (void)munmap(old, (size_t)getpagesize());
        pause_us(1000);
    }
    return NULL;
}

static void *update_and_die(void *unused)
{
    (void)unused;
    for (unsigned n = 2; n < 6; n++) {
        otelkit_update(header, number(n));
        pause_us(1000);
    }
    (void)kill(getpid(), SIGKILL);
    return NULL;
}

static void *come_and_go(void *unused)
{
    (void)unused;
    pause_us(5000);
    (void)otelkit_go_on(come_and_go, NULL);
    return NULL;
}

struct motion {
    void *(*run)(void *argument);
    long pause_us; /* for storm */
};

static int set_motion(struct otelkit_stage *stage, const void *how)
{
    static long us;
    static struct otelkit_stage later;
    const struct motion *const motion = how;
    const int error = begin(stage);

    us = motion->pause_us;
    if (error != 0)
        return error;
    if (motion->run == rewrite) { /* 239 is in the third area */
        has_unknown = true;
        (void)encode(159);
        (void)encode(199);
        otelkit_update(header, number(239));
    }
    if (motion->run == move)
        return otelkit_stage_open(&later) == 0 ? otelkit_go_on(move, &later)
                                               : -ENOMEM;
    return otelkit_go_on(motion->run, &us);
}

#define MOTION(run_)                                                           \
    .set = set_motion, .how = &(const struct motion)                           \
    {                                                                          \
        .run = (run_)                                                          \
    }
#define STORM(pause_us_)                                                       \
    .set = set_motion, .how = &(const struct motion)                           \
    {                                                                          \
        .run = storm, .pause_us = (pause_us_)                                  \
    }

static void *execute(void *unused)
{
    (void)unused;
    pause_us(5000);
    (void)execv("/proc/self/exe", otelkit_again);
    return NULL;
}

static int set_exec(struct otelkit_stage *stage, const void *how)
{
    const int error = otelkit_publish_shop(stage, NULL);

    (void)how;
    return error != 0 ? error : otelkit_go_on(execute, NULL);
}

#define SHOWN  .answer = OTELKIT_CONTEXT, .check = OTELKIT_NUMBERED
#define EITHER .answer = OTELKIT_EITHER, .check = OTELKIT_NUMBERED

const struct otelkit_scene otelkit_moving_scenes[] = {
    {OTELKIT_ABOUT("moving/updates", "an update every millisecond",
                   "one of them, of one piece", OTELKIT_UPDATING),
     STORM(1000), SHOWN},
    {OTELKIT_ABOUT("moving/storm", "updates without a pause",
                   "either: one of them, of one piece", OTELKIT_UPDATING),
     STORM(0), EITHER},
    {OTELKIT_ABOUT(
         "moving/in-place", "payloads that are rewritten within the window",
         "either: one of them, of one piece", OTELKIT_READING ", step 7"),
     MOTION(rewrite), EITHER},
    {OTELKIT_ABOUT("moving/window-open",
                   "a window held open for 25 of 50 ms, with half an update",
                   "either: a whole one", OTELKIT_READING ", step 3"),
     MOTION(hold_open), EITHER},
    {OTELKIT_ABOUT("moving/timestamp-back",
                   "updates with timestamps that go back",
                   "one of them: each differs", OTELKIT_READING ", step 7"),
     MOTION(go_back), SHOWN},
    {OTELKIT_ABOUT("moving/torn", "updates without a window",
                   "either: a reader cannot notice", OTELKIT_UPDATING),
     MOTION(tear), .answer = OTELKIT_EITHER},
    {OTELKIT_ABOUT("moving/timestamp-repeated", "updates with one timestamp",
                   "either: a reader cannot notice", OTELKIT_UPDATING),
     MOTION(repeat), .answer = OTELKIT_EITHER},
    {OTELKIT_ABOUT("moving/unmapped",
                   "a payload that is unmapped after its update",
                   "one of them, of one piece", OTELKIT_READING ", step 7"),
     MOTION(unmap), SHOWN},
    {OTELKIT_ABOUT("moving/elsewhere", "a context that moves every millisecond",
                   "either: one of them, of one piece", OTELKIT_PUBLICATION),
     MOTION(move), EITHER},
    {OTELKIT_ABOUT("moving/threads", "threads that come and go", "the context",
                   OTELKIT_READING),
     MOTION(come_and_go), SHOWN},
    {OTELKIT_ABOUT("moving/ends", "a process that ends after 4 updates",
                   "either: one of them, of one piece", OTELKIT_READING),
     MOTION(update_and_die), EITHER},
    {OTELKIT_ABOUT("moving/exec", "a process that executes itself",
                   "either: the context, or none", OTELKIT_READING),
     .set = set_exec, .answer = OTELKIT_EITHER, .resource = OTELKIT_SHOP,
     .program = OTELKIT_PLAIN},
    {.about = {.name = NULL}},
};
