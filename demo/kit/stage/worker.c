/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/stage/worker.h"

#include "demo/kit/stage/context.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

otelkit_slot_function *otelkit_slot;
int (*otelkit_slot_opener)(struct otelkit_stage *stage, bool apart);

int otelkit_slot_open(struct otelkit_stage *stage, bool apart)
{
    return otelkit_slot_opener
               ? otelkit_slot_opener(stage, apart)
               : otelkit_stage_refuse(stage, "a static program opens nothing");
}

/* Posted after a worker has run; workers start one after the other. */
static sem_t ready;

pid_t otelkit_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

void otelkit_announce(struct otelkit_bytes *bytes, const char *schema,
                      const char *const *keys)
{
    if (schema)
        otelkit_pair(bytes, OTELKIT_CONTEXT_EXTRA, OTELCTX_SCHEMA_VERSION_KEY,
                     schema);
    if (!keys)
        return;
    const size_t pair = otelkit_open(bytes, OTELKIT_CONTEXT_EXTRA);
    otelkit_string(bytes, OTELKIT_PAIR_KEY, OTELCTX_KEY_MAP_KEY);
    const size_t any = otelkit_open(bytes, OTELKIT_PAIR_VALUE);
    const size_t array = otelkit_open(bytes, OTELKIT_VALUE_ARRAY);
    for (size_t i = 0; keys[i]; i++) {
        const size_t value = otelkit_open(bytes, OTELKIT_ARRAY_VALUES);

        otelkit_string(bytes, OTELKIT_VALUE_STRING, keys[i]);
        otelkit_close(bytes, value);
    }
    otelkit_close(bytes, array);
    otelkit_close(bytes, any);
    otelkit_close(bytes, pair);
}

int otelkit_publish_keys(struct otelkit_stage *stage)
{
    static struct otelkit_bytes bytes;
    static const char *const keys[] = {"http.route", "user.id", NULL};

    otelkit_service(&bytes, "shop");
    otelkit_announce(&bytes, "tlsdesc_v1_dev", keys);
    return otelkit_publish_bytes(stage, &bytes, NULL);
}

static void number_put(uint8_t out[8], uint64_t number)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(number >> (56 - 8 * i));
}

void otelkit_record_fill(struct otelctx_record_head *head, uint64_t number)
{
    number_put(head->trace_id, number);
    number_put(head->trace_id + 8, number);
    number_put(head->span_id, ~number);
    head->valid = 1;
    head->trace_flags = 1;
    head->attrs_size = 0;
}

static void *work(void *argument)
{
    struct otelkit_worker *const worker = argument;

    worker->tid = otelkit_tid();
    (void)fprintf(worker->stage->tids.file, ",%d", (int)worker->tid);
    worker->run(worker);
    (void)sem_post(&ready);
    for (;;)
        (void)pause();
    return NULL;
}

void otelkit_worker_ready(struct otelkit_worker *worker)
{
    (void)worker;
    (void)sem_post(&ready);
}

int otelkit_worker_start(struct otelkit_worker *worker)
{
    const int error = sem_init(&ready, 0, 0) == 0 ? 0 : -errno;
    const int failed = error == 0 ? otelkit_go_on(work, worker) : error;

    if (failed != 0)
        return failed;
    while (sem_wait(&ready) != 0 && errno == EINTR)
        continue;
    return 0;
}

void otelkit_worker_attach(struct otelkit_worker *worker)
{
    static _Thread_local struct {
        struct otelctx_record_head head;
        uint8_t attrs[64];
    } record;
    static const uint8_t route[] = "\0\5/cart";

    otelkit_record_fill(&record.head, worker->number);
    memcpy(record.attrs, route, sizeof(route) - 1);
    record.head.attrs_size = sizeof(route) - 1;
    *otelkit_slot() = &record;
    otelkit_expect_thread(worker->stage, worker->tid, "context", &record.head,
                          "{\"http.route\":\"/cart\"}");
}

static void hex_print(FILE *out, const char *name, const uint8_t *bytes,
                      size_t size)
{
    (void)fprintf(out, ",\"%s\":\"", name);
    for (size_t i = 0; i < size; i++)
        (void)fprintf(out, "%02x", bytes[i]);
    (void)fputc('"', out);
}

void otelkit_expect_thread(struct otelkit_stage *stage, pid_t tid,
                           const char *answer,
                           const struct otelctx_record_head *head,
                           const char *attributes)
{
    FILE *const out = stage->threads.file;

    (void)fprintf(out, ",{\"tid\":%d,\"answer\":\"%s\"", (int)tid, answer);
    if (head) {
        hex_print(out, "trace_id", head->trace_id, sizeof(head->trace_id));
        hex_print(out, "span_id", head->span_id, sizeof(head->span_id));
        (void)fprintf(out, ",\"trace_flags\":%u", head->trace_flags);
    }
    if (attributes)
        (void)fprintf(out, ",\"attributes\":%s", attributes);
    (void)fputc('}', out);
}

void otelkit_expect_paired(struct otelkit_stage *stage, pid_t tid)
{
    (void)fprintf(stage->threads.file,
                  ",{\"tid\":%d,\"answer\":\"either\",\"check\":\"paired\"}",
                  (int)tid);
}
