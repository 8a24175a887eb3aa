/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Another writer of `otel_thread_ctx_v1`, as an SDK in the process would be.
 * Its second thread does what it is told on stdin, one word a line, and prints
 * what each returned. Of the other writer:
 *
 *     put     attaches a record of its own, without asking
 *     clear   stores NULL
 *     kept    1: that record is in the slot, and it and the memory around it
 *             are as they were
 *     reuse   attaches one where the program's was, as a heap might have it
 *
 * The others are calls of the shim, in whose words `swap` brings in a record of
 * the program's and `swapout` nothing.
 */

#include "sharer_slot.h"

#include <pthread.h>
#include <stdio.h>

static const uint8_t trace_id[16] = {0x11}, span_id[8] = {0x22};

/* The memory around the record shows a write beyond its end. */
struct guarded {
    uint8_t before[64];
    struct otelctx_record record;
    uint8_t after[64];
};
static const struct guarded pristine = {
    .before = {0xfd},
    .record = {.trace_id = {0x0b},
               .span_id = {0x0c},
               .valid = 1,
               .trace_flags = 3,
               .attrs_size = 7,
               .attrs = "\0\5other"},
    .after = {0xfd},
};
static struct guarded other;
static struct otelctx_record program;

static int put(struct otelctx_record **slot)
{
    other = pristine;
    *slot = &other.record;
    return 0;
}

static int reuse(struct otelctx_record **slot)
{
    program = pristine.record;
    *slot = &program;
    return 0;
}

static int kept(struct otelctx_record *const *slot)
{
    if (*slot == &program)
        return memcmp(&program, &pristine.record, sizeof(program)) == 0;
    return *slot == &other.record &&
           memcmp(&other, &pristine, sizeof(other)) == 0;
}

static int swap_in(struct otelctx_record *const *slot)
{
    if (*slot != &program)
        otelctx_record_init(&program, trace_id, span_id, 1);
    return otelctx_swap(&program, NULL);
}

static int call(const char *name, struct otelctx_record **slot)
{
    struct otelctx_ids ids;

    if (strcmp(name, "put") == 0)
        return put(slot);
    if (strcmp(name, "reuse") == 0)
        return reuse(slot);
    if (strcmp(name, "kept") == 0)
        return kept(slot);
    if (strcmp(name, "clear") == 0)
        return *slot = NULL, 0;

    if (strcmp(name, "abi") == 0)
        return otelctx_abi();
    if (strcmp(name, "attach") == 0)
        return otelctx_attach(trace_id, span_id, 1);
    if (strcmp(name, "attr") == 0)
        return otelctx_attr(0, "ours", 4);
    if (strcmp(name, "unset") == 0)
        return otelctx_attr_unset(0);
    if (strcmp(name, "detach") == 0)
        return otelctx_detach();
    if (strcmp(name, "get") == 0)
        return otelctx_get(&ids);
    if (strcmp(name, "pin") == 0)
        return otelctx_pin() ? 1 : 0;
    if (strcmp(name, "swap") == 0)
        return swap_in(slot);
    if (strcmp(name, "swapout") == 0)
        return otelctx_swap(NULL, NULL);
    return -EINVAL;
}

static void *work(void *unused)
{
    struct otelctx_record **const slot = sharer_slot();
    static char line[32];

    (void)unused;
    pthread_setname_np(pthread_self(), "worker");
    while (slot && fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        printf("%s %d\n", line, call(line, slot));
    }
    return NULL;
}

int main(void)
{
    pthread_t worker;

    setlinebuf(stdout);
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        return 1;
    return pthread_join(worker, NULL);
}
