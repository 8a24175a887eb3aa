/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Usage: writer [--late] [-OLD_LIBRARY] [LIBRARY]...
 *
 * A writer of OTEP 4719 and 4947 that shares no line with the shim: it writes
 * the bytes that the specifications show. Of five threads three attach a
 * record, one has detached its own, and one never touches the variable. The
 * writer prints this, and waits for the end of stdin:
 *
 *     thread TID STATUS RECORD [TRACE_ID SPAN_ID FLAGS KEY=VALUE,...]
 *     slot TID ADDRESS OFFSET       of the variable; from the thread pointer
 *     ready
 *
 * MAPPED in the environment is a list of files, separated by ':', that it maps
 * first, as a program does to read them. --late opens the libraries when the
 * threads run already, so that libc must allocate TLS for them later. In
 * OLD_LIBRARY each thread attaches a record, then the library is closed: the
 * next library may get its TLS module id.
 */

#include "matrix.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 5,
    DETACHED = 3,
    UNTOUCHED = 4,
    PAGE = 4096
};

/* ---- OTEP 4719, "Header Structure" and "Payload" ------------------------ */

struct header {
    char signature[8];
    uint32_t version;
    uint32_t payload_size;
    uint64_t published_at_ns;
    uint64_t payload;
};

/* resource { service.name: "matrix" }, then the two extra attributes. */
static const char payload[] =
    "\x0a\x1a\x0a\x18\x0a\x0cservice.name\x12\x08\x0a\x06matrix"
    "\x12\x2e\x0a\x1athreadlocal.schema_version\x12\x10\x0a\x0etlsdesc_v1_dev"
    "\x12\x3c\x0a\x1dthreadlocal.attribute_key_map\x12\x1b\x2a\x19"
    "\x0a\x0c\x0a\x0ahttp.route\x0a\x09\x0a\x07user.id";

static void publish(void)
{
    struct timespec now;
    const int fd = (int)syscall(SYS_memfd_create, "OTEL_CTX", 1 /* cloexec */);

    if (fd < 0 || ftruncate(fd, PAGE) != 0)
        exit(1);
    struct header *const header =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (header == MAP_FAILED)
        exit(1);
    close(fd);
    clock_gettime(CLOCK_BOOTTIME, &now);
    *header = (struct header){
        .signature = {'O', 'T', 'E', 'L', '_', 'C', 'T', 'X'},
        .version = 2,
        .payload_size = sizeof(payload) - 1,
        .payload = (uintptr_t)(header + 1),
    };
    memcpy(header + 1, payload, sizeof(payload) - 1);
    __atomic_store_n(&header->published_at_ns,
                     (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
                     __ATOMIC_SEQ_CST);
}

/* ---- OTEP 4947, "Thread-Local Context Record" --------------------------- */

struct record {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t valid;
    uint8_t trace_flags;
    uint16_t attrs_size;
    char attrs[612];
};

static struct record records[] = {
    {"0123456789abcdef", "mainmain", 1, 1, 0, ""},
    {"fedcba9876543210", "worker 1", 1, 0, 6, "\x00\x04/one"},
    {"two two two two ", "worker 2", 1, 3, 13, "\x01\x03two\x00\x06/t w o"},
};
static const char *const attributes[] = {"", "http.route=/one",
                                         "user.id=two,http.route=/t w o"};

/* What each thread found and did; other threads read it after the barrier. */
static struct {
    pid_t tid;
    void **slot;
    char *thread_pointer;
} seen[THREADS];

static slot_function *old_slot;
static slot_function *slot;
static pthread_barrier_t started;
static pthread_barrier_t opened;
static pthread_barrier_t done;

static void act(size_t self)
{
    seen[self].tid = (pid_t)syscall(SYS_gettid);
    if (self == UNTOUCHED)
        return;
    seen[self].slot = slot();
    seen[self].thread_pointer = __builtin_thread_pointer();
    *seen[self].slot = &records[self % 3];
    if (self == DETACHED)
        *seen[self].slot = NULL;
}

static void *worker(void *self)
{
    if (old_slot)
        *old_slot() = &records[1];
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&opened);
    act((uintptr_t)self);
    pthread_barrier_wait(&done);
    for (;;)
        pause();
    return NULL;
}

/* ---- what otelctx-read and gdb should find ------------------------------ */

static void print_hex(const uint8_t *bytes, size_t size)
{
    putchar(' ');
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
}

static void print(size_t self)
{
    const struct record *const record = &records[self % 3];

    printf("thread %d ", (int)seen[self].tid);
    if (self == DETACHED) {
        puts("detached 0x0");
    } else if (self == UNTOUCHED) {
        puts("untouched 0x0");
    } else {
        printf("attached %p", (const void *)record);
        print_hex(record->trace_id, sizeof(record->trace_id));
        print_hex(record->span_id, sizeof(record->span_id));
        printf(" %d %s\n", record->trace_flags, attributes[self]);
    }
    if (self != UNTOUCHED)
        printf("slot %d %p %td\n", (int)seen[self].tid, (void *)seen[self].slot,
               (char *)seen[self].slot - seen[self].thread_pointer);
}

static void start(char **libraries, bool late)
{
    pthread_t thread;

    old_slot = matrix_find_old(libraries);
    if (!late)
        slot = matrix_find(libraries);
    for (uintptr_t i = 1; i < THREADS; i++)
        pthread_create(&thread, NULL, worker, (void *)i);
    pthread_barrier_wait(&started);
    if (late)
        slot = matrix_find(libraries);
    pthread_barrier_wait(&opened);
    act(0);
    pthread_barrier_wait(&done);
}

/* Larger than any gap between libraries: the kernel maps it below them. */
static void map(const char *file)
{
    const int fd = open(file, O_RDONLY | O_CLOEXEC);

    if (fd < 0 ||
        mmap(NULL, 1 << 26, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        exit(1);
    close(fd);
}

int main(int argc, char **argv)
{
    const bool late = argc > 1 && strcmp(argv[1], "--late") == 0;
    char *files = getenv("MAPPED");

    while (files)
        map(strsep(&files, ":"));
    publish();
    pthread_barrier_init(&started, NULL, THREADS);
    pthread_barrier_init(&opened, NULL, THREADS);
    pthread_barrier_init(&done, NULL, THREADS);
    start(argv + 1 + late, late);

    for (size_t i = 0; i < THREADS; i++)
        print(i);
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
