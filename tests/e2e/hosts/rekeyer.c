/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A publisher of its own, without the shim, whose key map is another one ten
 * times a second, until stdin ends: no thread has a context while it changes.
 * All three attributes tell their keys: the value of "key.2" begins with that.
 */

#include "shim/wire/process.h"
#include "shim/wire/thread.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 2,
    KEYS = 3
};

extern _Thread_local const void *volatile otel_thread_ctx_v1;
_Thread_local const void *volatile otel_thread_ctx_v1;

/* ---- the process context ------------------------------------------------ */

/* A message is put into the one around it from behind. */
struct bytes {
    uint8_t at[512];
    size_t size;
};

static void put(struct bytes *out, const void *from, size_t size)
{
    memcpy(out->at + out->size, from, size);
    out->size += size;
}

/* A field that is shorter than 128 bytes, or than 16384. */
static void put_field(struct bytes *out, unsigned number, const void *from,
                      size_t size)
{
    const uint8_t head[] = {(uint8_t)(number << 3 | 2), (uint8_t)(size | 0x80),
                            (uint8_t)(size >> 7)};

    put(out, head, sizeof(head));
    put(out, from, size);
}

static struct bytes text_value(const char *text)
{
    struct bytes value = {.size = 0};

    put_field(&value, 1, text, strlen(text));
    return value;
}

static struct bytes pair(const char *key, struct bytes value)
{
    struct bytes out = {.size = 0};

    put_field(&out, 1, key, strlen(key));
    put_field(&out, 2, value.at, value.size);
    return out;
}

/* The keys from the one of this number on, and round. */
static struct bytes payload_make(unsigned first)
{
    struct bytes out = {.size = 0}, resource = {.size = 0}, list = {.size = 0},
                 map = {.size = 0};
    struct bytes one = pair("service.name", text_value("rekeyer"));

    put_field(&resource, 1, one.at, one.size);
    put_field(&out, 1, resource.at, resource.size);
    one = pair(OTELCTX_SCHEMA_VERSION_KEY, text_value("tlsdesc_v1_dev"));
    put_field(&out, 2, one.at, one.size);
    for (unsigned i = 0; i < KEYS; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "key.%u", (first + i) % KEYS);
        one = text_value(name);
        put_field(&list, 1, one.at, one.size);
    }
    put_field(&map, 5, list.at, list.size);
    one = pair(OTELCTX_KEY_MAP_KEY, map);
    put_field(&out, 2, one.at, one.size);
    return out;
}

static struct otelctx_header *header;
static struct bytes payload[2];

/* OTEP 4719, "Publication Protocol" and "Updating Protocol". */
static void publish(unsigned number)
{
    static uint64_t last_ns;
    struct bytes *const next = &payload[number % 2];
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    const uint64_t now_ns =
        (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    last_ns = now_ns > last_ns ? now_ns : last_ns + 1;
    *next = payload_make(number);
    __atomic_store_n(&header->published_at_ns, 0, __ATOMIC_SEQ_CST);
    header->payload = (uintptr_t)next->at;
    header->payload_size = (uint32_t)next->size;
    memcpy(header->signature, OTELCTX_SIGNATURE, OTELCTX_SIGNATURE_SIZE);
    header->version = OTELCTX_HEADER_VERSION;
    __atomic_store_n(&header->published_at_ns, last_ns, __ATOMIC_SEQ_CST);
}

static void map_header(void)
{
    const size_t size = (size_t)getpagesize();
    const int fd = (int)syscall(SYS_memfd_create, OTELCTX_MAPPING_NAME, 1U);

    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        abort();
    header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (header == MAP_FAILED)
        abort();
    close(fd);
}

/* ---- threads ------------------------------------------------------------ */

static pthread_rwlock_t contexts;
static unsigned first; /* the key of index 0 */

struct record {
    struct otelctx_record_head head;
    uint8_t
        attributes[OTELCTX_RECORD_SIZE - sizeof(struct otelctx_record_head)];
};

static void fill(struct record *record, unsigned count)
{
    memset(record, 0, sizeof(*record));
    memset(record->head.trace_id, (int)(count % 255 + 1), 16);
    memset(record->head.span_id, (int)(count % 255 + 1), 8);
    for (unsigned index = 0; index < KEYS; index++) {
        uint8_t *const at = record->attributes + record->head.attrs_size;
        char value[32];
        const int size = snprintf(value, sizeof(value), "key.%u of %u",
                                  (first + index) % KEYS, count);

        at[0] = (uint8_t)index;
        at[1] = (uint8_t)size;
        memcpy(at + 2, value, (size_t)size);
        record->head.attrs_size =
            (uint16_t)(record->head.attrs_size + 2 + size);
    }
    record->head.valid = 1;
}

static void *run(void *argument)
{
    struct record record;
    struct timespec begun, now;

    for (unsigned count = 0;; count++) {
        pthread_rwlock_rdlock(&contexts);
        fill(&record, count);
        otel_thread_ctx_v1 = &record;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
        do {
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        } while ((now.tv_sec - begun.tv_sec) * 1000000000 + now.tv_nsec -
                     begun.tv_nsec <
                 2000000);
        otel_thread_ctx_v1 = NULL;
        pthread_rwlock_unlock(&contexts);
    }
    return argument;
}

int main(void)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    pthread_rwlockattr_t attributes;

    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&contexts, &attributes);
    map_header();
    publish(0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t id;

        if (pthread_create(&id, NULL, run, NULL) != 0)
            abort();
    }
    puts("ready");
    fflush(stdout);
    while (poll(&in, 1, 100) == 0) {
        pthread_rwlock_wrlock(&contexts);
        publish(++first);
        pthread_rwlock_unlock(&contexts);
    }
    return 0;
}
