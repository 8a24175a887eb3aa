/* SPDX-License-Identifier: Apache-2.0 */

/*
 * MariaDB: SELECT works('...'), where the 48 digits are the ids of the request.
 * Says what the thread works for: see ../sdk/truth.h. The two structures are
 * those of MariaDB's mysql.h, as far as they are used.
 */

#include "tests/e2e/sdk/truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct arguments {
    unsigned count;
    const int *types;
    const char *const *values;
};

long long works(void *init, const struct arguments *arguments, char *is_null,
                char *error);
char works_init(void *init, struct arguments *arguments, char *message);

static struct truth *slots;

char works_init(void *init, struct arguments *arguments, char *message)
{
    const int file = open(getenv("TRUTH"), O_RDWR | O_CLOEXEC);

    (void)init, (void)arguments, (void)message;
    if (!slots)
        slots = mmap(NULL, TRUTH_SLOTS * sizeof(*slots), PROT_READ | PROT_WRITE,
                     MAP_SHARED, file, 0);
    (void)close(file);
    return slots == MAP_FAILED;
}

long long works(void *init, const struct arguments *arguments, char *is_null,
                char *error)
{
    const uint32_t tid = (uint32_t)gettid();
    struct truth *slot = &slots[tid % TRUTH_SLOTS];
    const char *digits = arguments->values[0];

    (void)init, (void)is_null, (void)error;
    slot->pid = (uint32_t)getpid();
    slot->tid = tid;
    for (int i = 0; i < 24; i++)
        (void)sscanf(digits + 2 * (size_t)i, "%2hhx", &slot->trace_id[i]);
    __atomic_fetch_add(&slot->sequence, 1, __ATOMIC_SEQ_CST);
    for (volatile int i = 0; i < 1000000; i++)
        continue;
    __atomic_fetch_add(&slot->sequence, 1, __ATOMIC_SEQ_CST);
    return 1;
}
