/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Targets that publish thread contexts by hand. The test program itself exports
 * the variable (-rdynamic), and so do the targets, which it forks.
 */

#include "shim/wire/thread.h"
#include "tests/e2e/reader/reader_harness.h"

#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* OTEP 4947, "Thread-Local Variable". */
_Thread_local const void *volatile otel_thread_ctx_v1;

/* Extra attributes: a schema, and maps of one and of two keys. */
#define SCHEMA                                                                 \
    "\x12\x2e\x0a\x1athreadlocal.schema_version\x12\x10\x0a\x0etlsdesc_v1_dev"
#define ONE_KEY                                                                \
    "\x12\x31\x0a\x1dthreadlocal.attribute_key_map\x12\x10\x2a\x0e\x0a\x0c"    \
    "\x0a\x0ahttp.route"
#define TWO_KEYS                                                               \
    "\x12\x3c\x0a\x1dthreadlocal.attribute_key_map\x12\x1b\x2a\x19\x0a\x0c"    \
    "\x0a\x0ahttp.route\x0a\x09\x0a\x07user.id"
#define OTHER_KEYS /* the first is no string */                                \
    "\x12\x32\x0a\x1dthreadlocal.attribute_key_map\x12\x11\x2a\x0f\x0a\x02"    \
    "\x18\x01\x0a\x09\x0a\x07user.id"

#define PUBLISH(page, bytes) publish((page), (bytes), sizeof(bytes) - 1)

static inline struct page *announce(void)
{
    struct page *const page = map_page(OTELCTX_MAPPING_NAME);

    PUBLISH(page, SHOP SCHEMA ONE_KEY);
    return page;
}

struct record {
    struct otelctx_record_head head;
    uint8_t attrs[OTELCTX_RECORD_SIZE - sizeof(struct otelctx_record_head)];
} __attribute__((aligned(8)));

/* Makes all ids of one number, so that a mixture of two contexts is noticed. */
static inline void record_fill(struct record *record, uint64_t number,
                               const char *attrs, size_t size)
{
    *record = (struct record){
        .head = {.valid = 1, .trace_flags = 1, .attrs_size = (uint16_t)size}};
    for (size_t i = 0; i < 8; i++) {
        const uint8_t byte = (uint8_t)(number >> (56 - 8 * i));

        record->head.trace_id[i] = byte;
        record->head.trace_id[8 + i] = byte;
        record->head.span_id[i] = byte;
    }
    memcpy(record->attrs, attrs, size);
}

static inline void attach(const void *record)
{
    otel_thread_ctx_v1 = record;
}

/* The calling thread's own record, attached. */
static inline struct record *attach_number(uint64_t number, const char *attrs,
                                           size_t size)
{
    static _Thread_local struct record own;

    record_fill(&own, number, attrs, size);
    attach(&own);
    return &own;
}

/* Attributes { 0: "/ab" }. */
#define ROUTE     "\x00\x03/ab"
#define ATTACH(n) attach_number((n), ROUTE, sizeof(ROUTE) - 1)

static inline pid_t gettid_raw(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* A main thread without a context, and a worker with one. */
static inline void *work(void *ready)
{
    prctl(PR_SET_NAME, "worker");
    ATTACH(0x4711);
    say_ready(*(int *)ready);
    for (;;)
        pause();
    return NULL;
}

static inline void with_worker(int ready, int commands)
{
    static int descriptor;
    pthread_t thread;

    (void)commands;
    descriptor = ready;
    prctl(PR_SET_NAME, "main");
    announce();
    pthread_create(&thread, NULL, work, &descriptor);
    for (;;)
        pause();
}

/* ---- seen from outside -------------------------------------------------- */

/* Memory that a test shares with the targets that it starts afterwards. */
static inline void *share(size_t size)
{
    void *const memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(memory, MAP_FAILED);
    return memory;
}

/* The number behind a key of /proc/PID/task/TID/status, or -1. */
static inline long status_number(pid_t pid, pid_t tid, const char *key)
{
    char path[64];
    char line[256];
    long found = -1;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
    FILE *const file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, key, strlen(key)) == 0)
            found = strtol(line + strlen(key), NULL, 10);
    }
    if (file)
        fclose(file);
    return found;
}

/* The state of a thread: R, S, D, T, t and so on. */
static inline char state_of(pid_t pid, pid_t tid)
{
    char path[64];
    char text[512] = "";

    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    FILE *const file = fopen(path, "r");
    if (!file)
        return '\0';
    const size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *const end = strrchr(text, ')');
    return end ? end[2] : '\0';
}

/* 0 to 8191 microseconds, in the same order in every run. */
static inline void sleep_somewhat(void)
{
    static uint32_t seed = 2463534242U;
    struct timespec duration = {0};

    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    duration.tv_nsec = (long)(seed % 8192) * 1000;
    nanosleep(&duration, NULL);
}

#define EVENTUALLY(condition)                                                  \
    do {                                                                       \
        for (int i_ = 0; i_ < LIMIT_SEC * 1000 && !(condition); i_++)          \
            sleep_ms(1);                                                       \
        cr_assert((condition), "not within %d s", LIMIT_SEC);                  \
    } while (0)

/*
 * Waits while another tracer has the thread: a test that runs meanwhile may
 * read all threads of this machine.
 */
static inline void seize(pid_t tid)
{
    bool seized = false;

    EVENTUALLY(seized || (seized = ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0));
}
