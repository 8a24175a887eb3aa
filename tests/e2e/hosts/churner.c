/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Threads that come and go with contexts, as it is told on stdin, one order a
 * line; it prints the order when it is done.
 *
 *     renew      a new thread takes the place of each of CROWD, one after the
 *                other, and stays
 *     run COUNT  so many threads end soon after they began
 *
 * All that a thread attaches is derived from its tid. Each four bytes of the
 * ids are, in hexadecimal, its eight decimal digits. The attribute 0 is "TID",
 * and 1 is that or "TID again".
 */

#include "shim/otelctx.h"

#include <endian.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CROWD = 40,
    CHANGES = 100
};

struct member {
    pthread_t thread;
    sem_t settled, dismissed;
    bool stays;
};
static struct member members[CROWD];

static void attach(unsigned tid)
{
    char digits[16];
    uint32_t word, trace_id[4];

    snprintf(digits, sizeof(digits), "%08u", tid);
    word = htobe32((uint32_t)strtoul(digits, NULL, 16));
    for (int i = 0; i < 4; i++)
        trace_id[i] = word;
    (void)otelctx_attach((const uint8_t *)trace_id, (const uint8_t *)trace_id,
                         1);
}

static void set_attributes(unsigned tid)
{
    char text[32];
    const size_t size = (size_t)snprintf(text, sizeof(text), "%u again", tid);
    const size_t first = strcspn(text, " ");

    (void)otelctx_attr(0, text, first);
    (void)otelctx_attr(1, text, first);
    (void)otelctx_attr(1, text, size);
    (void)otelctx_attr_unset(0);
    (void)otelctx_attr(0, text, first);
}

static void *live(void *argument)
{
    struct member *const member = argument;
    const unsigned tid = (unsigned)gettid();

    for (int i = 0; i < (member->stays ? CHANGES : 1); i++) {
        attach(tid);
        set_attributes(tid);
    }
    if (member->stays) {
        sem_post(&member->settled);
        sem_wait(&member->dismissed);
    }
    return NULL;
}

static void begin(struct member *member, bool stays)
{
    member->stays = stays;
    sem_init(&member->settled, 0, 0);
    sem_init(&member->dismissed, 0, 0);
    if (pthread_create(&member->thread, NULL, live, member) != 0)
        abort();
}

static void renew(void)
{
    static bool is_there;
    const struct timespec moment = {0, 1000000};

    for (int i = 0; i < CROWD; i++) {
        if (is_there) {
            sem_post(&members[i].dismissed);
            pthread_join(members[i].thread, NULL);
        }
        begin(&members[i], true);
        nanosleep(&moment, NULL); /* for the reader to come by */
    }
    for (int i = 0; i < CROWD; i++)
        sem_wait(&members[i].settled);
    is_there = true;
}

static void run(unsigned long count)
{
    struct member passing[CROWD];

    for (unsigned long done = 0; done < count; done += CROWD) {
        for (int i = 0; i < CROWD; i++)
            begin(&passing[i], false);
        for (int i = 0; i < CROWD; i++)
            pthread_join(passing[i].thread, NULL);
    }
}

int main(void)
{
    char order[16];
    unsigned long count;

    setlinebuf(stdout);
    while (fgets(order, sizeof(order), stdin)) {
        if (sscanf(order, "run %lu", &count) == 1)
            run(count);
        else
            renew();
        fputs(order, stdout);
    }
    return 0;
}
