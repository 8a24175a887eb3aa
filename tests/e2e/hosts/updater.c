/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A host that updates its context as fast as it can: updater UPDATES THREADS
 *
 * One thread: sets four attributes to the update's number, with a filler whose
 * length goes up and down over the edges of the page, and publishes; at least
 * UPDATES times, until stdin ends; then prints how often.
 *
 * More threads: each sets one attribute of its own to a number that counts up
 * to UPDATES, publishing each; then prints that, and waits for stdin to end.
 */

#include "shim/otelctx.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST = 6000,
    THREADS_MAX = 64
};

static unsigned long updates;

static void must(int result)
{
    if (result == 0)
        return;
    fprintf(stderr, "updater: %s\n", strerror(-result));
    abort();
}

static void describe(char text[LONGEST + 32], unsigned long number)
{
    const int size = snprintf(text, 32, "%lu ", number);
    const size_t fill = number % 16 < 15 ? number % 1000 : LONGEST;

    memset(text + size, 'x', fill);
    text[(size_t)size + fill] = '\0';
}

static void update_all(unsigned long number)
{
    static const char *const keys[] = {"n.0", "n.1", "n.2", "n.3"};
    char text[LONGEST + 32];

    describe(text, number);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        must(otelctx_process_set(keys[i], text));
    must(otelctx_process_publish());
}

static int stdin_ended(void)
{
    struct pollfd in = {.fd = 0};

    return poll(&in, 1, 0) == 1 && (in.revents & POLLHUP);
}

static unsigned long update_alone(void)
{
    unsigned long number = 0;

    while (number < updates || number % 1024 != 0 || !stdin_ended())
        update_all(++number);
    return number;
}

static void *update_own(void *name)
{
    char text[32];

    for (unsigned long number = 1; number <= updates; number++) {
        snprintf(text, sizeof(text), "%lu", number);
        must(otelctx_process_set(name, text));
        must(otelctx_process_publish());
    }
    return NULL;
}

static void update_together(unsigned long threads)
{
    static char names[THREADS_MAX][32];
    pthread_t id[THREADS_MAX];

    for (unsigned long i = 0; i < threads; i++) {
        snprintf(names[i], sizeof(names[i]), "t.%lu", i);
        must(pthread_create(&id[i], NULL, update_own, names[i]));
    }
    for (unsigned long i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
}

int main(int argc, char **argv)
{
    const unsigned long threads = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

    if (threads == 0 || threads > THREADS_MAX)
        return 2;
    updates = strtoul(argv[1], NULL, 10);
    if (threads == 1) {
        printf("%lu\n", update_alone());
        return 0;
    }
    update_together(threads);
    printf("%lu\n", updates);
    fflush(stdout);
    return getchar() == EOF ? 0 : 1;
}
