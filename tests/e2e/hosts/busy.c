/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A host whose threads use processor time for contexts that tell whose they
 * are, until stdin ends:
 *
 *     busy share PERCENT PERCENT  two threads that use so much of what both use
 *                                 together, for the routes /PERCENT
 *     busy storm THREADS GEN      each changes its context all the time
 *     busy herd PROCESSES         so many children with two threads each, which
 *                                 sleep nearly all the time
 *     busy wait                   no thread but this one
 *
 * A trace id is a pid, a generation, and a random number, 4, 4 and 8 bytes; the
 * span id is its first half, xor the second. The attribute http.route is "/r/"
 * and the last four bytes, and owner is "PID:GENERATION", as is the resource
 * attribute. It prints each line of stdin when it has done what that says:
 *
 *     fork        another process storms
 *     brief       another one does, and ends soon
 *     exec        the program starts anew, as the next generation
 *     generation  the same process has the next one
 *     burn MS     two threads use so much processor time, for /burn and nothing
 */

#include "shim/otelctx.h"

#include <endian.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MS_NS 1000000ULL

static unsigned generation;
static int route_key, owner_key;

static uint64_t used_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000 * MS_NS + (uint64_t)now.tv_nsec;
}

static void use(uint64_t ns)
{
    const uint64_t until = used_ns() + ns;

    while (used_ns() < until)
        ;
}

static void rest(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * (long)MS_NS};

    nanosleep(&time, NULL);
}

static void begin(void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t id;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    if (pthread_create(&id, &attributes, run, argument) != 0)
        abort();
    pthread_detach(id);
}

static void announce(void)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%u:%u", (unsigned)getpid(), generation);
    (void)otelctx_process_set("owner", text);
    (void)otelctx_process_publish();
    route_key = otelctx_key("http.route");
    owner_key = otelctx_key("owner");
}

/* ---- contexts ----------------------------------------------------------- */

struct ids {
    uint32_t pid, generation, random[2];
};

static struct ids ids_make(unsigned *seed, uint64_t *span_id)
{
    const struct ids ids = {htobe32((uint32_t)getpid()),
                            htobe32(generation),
                            {(uint32_t)rand_r(seed), (uint32_t)rand_r(seed)}};
    uint64_t half[2];

    memcpy(half, &ids, sizeof(half));
    *span_id = half[0] ^ half[1];
    return ids;
}

static void describe(const struct ids *ids, char route[32], char owner[32])
{
    (void)snprintf(route, 32, "/r/%08x", be32toh(ids->random[1]));
    (void)snprintf(owner, 32, "%u:%u", be32toh(ids->pid),
                   be32toh(ids->generation));
}

static void attach(unsigned *seed, bool with_attributes)
{
    char route[32], owner[32];
    uint64_t span_id;
    const struct ids ids = ids_make(seed, &span_id);

    (void)otelctx_attach((const uint8_t *)&ids, (const uint8_t *)&span_id, 1);
    if (!with_attributes)
        return;
    describe(&ids, route, owner);
    (void)otelctx_attr((uint8_t)owner_key, owner, strlen(owner));
    (void)otelctx_attr((uint8_t)route_key, route, strlen(route));
}

static void swap(unsigned *seed, struct otelctx_record *record)
{
    char route[32], owner[32];
    uint64_t span_id;
    const struct ids ids = ids_make(seed, &span_id);

    describe(&ids, route, owner);
    (void)otelctx_record_init(record, (const uint8_t *)&ids,
                              (const uint8_t *)&span_id, 1);
    (void)otelctx_record_attr(record, (uint8_t)route_key, route, strlen(route));
    (void)otelctx_record_attr(record, (uint8_t)owner_key, owner, strlen(owner));
    (void)otelctx_swap(record, NULL);
}

/* ---- a storm ------------------------------------------------------------ */

/* Whoever holds it for writing: no thread has a context. */
static pthread_rwlock_t contexts;

static void *storm(void *argument)
{
    unsigned seed = (unsigned)gettid() * 7919;
    struct otelctx_record record;

    (void)argument;
    for (;;) {
        pthread_rwlock_rdlock(&contexts);
        if (rand_r(&seed) % 4 == 0)
            swap(&seed, &record);
        else
            attach(&seed, rand_r(&seed) % 4 != 0);
        use((unsigned)rand_r(&seed) % 4 * MS_NS / 2);
        (void)otelctx_detach();
        pthread_rwlock_unlock(&contexts);
        if (rand_r(&seed) % 4 == 0)
            rest(1);
    }
    return NULL;
}

static void storm_begin(unsigned long threads)
{
    pthread_rwlockattr_t attributes;

    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&contexts, &attributes);
    announce();
    for (unsigned long i = 0; i < threads; i++)
        begin(storm, NULL);
}

static void child(bool is_brief)
{
    const pid_t parent = getpid();
    const pid_t pid = fork();

    if (pid != 0)
        return;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    storm_begin(2);
    while (!is_brief) /* NOLINT(bugprone-infinite-loop) */
        pause();
    rest(400);
    _exit(0);
}

static void become_another(char **argv)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%u", generation + 1);
    argv[3] = text;
    (void)execv("/proc/self/exe", argv);
    abort();
}

/* ---- shares ------------------------------------------------------------- */

static struct sharer {
    unsigned percent;
    _Atomic uint64_t used_ns;
} sharers[2];

/* It rests while it has had more than its share. */
static void *share(void *argument)
{
    struct sharer *const mine = argument;
    unsigned seed = mine->percent;
    uint64_t span_id;
    const struct ids ids = ids_make(&seed, &span_id);
    char route[32];

    (void)snprintf(route, sizeof(route), "/%u", mine->percent);
    (void)prctl(PR_SET_NAME, route);
    (void)otelctx_attach((const uint8_t *)&ids, (const uint8_t *)&span_id, 1);
    (void)otelctx_attr((uint8_t)route_key, route, strlen(route));
    for (;;) {
        const uint64_t both = sharers[0].used_ns + sharers[1].used_ns;

        if (mine->used_ns * 100 <= both * mine->percent)
            use(MS_NS);
        else
            rest(1);
        mine->used_ns = used_ns();
    }
    return NULL;
}

/* ---- a known amount ----------------------------------------------------- */

struct burner {
    uint64_t ns;
    bool has_context;
};

static void *burner_run(void *argument)
{
    const struct burner *const burner = argument;
    unsigned seed = (unsigned)gettid();

    if (burner->has_context) {
        attach(&seed, false);
        (void)otelctx_attr((uint8_t)route_key, "/burn", 5);
    }
    use(burner->ns);
    return NULL;
}

static void burn_all(unsigned long ms)
{
    struct burner burners[] = {{ms * MS_NS, true}, {ms * MS_NS, false}};
    pthread_t ids[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&ids[i], NULL, burner_run, &burners[i]) != 0)
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], NULL);
}

/* ---- many --------------------------------------------------------------- */

static void *doze(void *argument)
{
    unsigned seed = (unsigned)gettid();

    (void)argument;
    attach(&seed, true);
    for (;;) {
        use(MS_NS / 20);
        rest(500 + rand_r(&seed) % 1000);
    }
    return NULL;
}

static void herd(unsigned long processes)
{
    const pid_t parent = getpid();

    for (unsigned long i = 0; i < processes; i++) {
        const pid_t pid = fork();

        if (pid < 0)
            abort();
        if (pid > 0)
            continue;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(0);
        announce();
        begin(doze, NULL);
        (void)doze(NULL);
    }
}

/* ---- all of it ---------------------------------------------------------- */

static void obey(const char *order, char **argv)
{
    unsigned long ms;

    if (strcmp(order, "fork\n") == 0 || strcmp(order, "brief\n") == 0) {
        pthread_rwlock_wrlock(&contexts);
        child(order[0] == 'b');
        pthread_rwlock_unlock(&contexts);
    } else if (strcmp(order, "exec\n") == 0) {
        become_another(argv);
    } else if (strcmp(order, "generation\n") == 0) {
        pthread_rwlock_wrlock(&contexts);
        generation++;
        announce();
        pthread_rwlock_unlock(&contexts);
    } else if (sscanf(order, "burn %lu", &ms) == 1) {
        burn_all(ms);
    }
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    char order[64];

    setbuf(stdin, NULL); /* an exec loses nothing */
    setlinebuf(stdout);
    (void)signal(SIGCHLD, SIG_IGN);
    if (argc > 3 && strcmp(what, "share") == 0) {
        announce();
        for (int i = 0; i < 2; i++) {
            sharers[i].percent = (unsigned)strtoul(argv[2 + i], NULL, 10);
            begin(share, &sharers[i]);
        }
    } else if (argc > 3 && strcmp(what, "storm") == 0) {
        generation = (unsigned)strtoul(argv[3], NULL, 10);
        storm_begin(strtoul(argv[2], NULL, 10));
    } else if (argc > 2 && strcmp(what, "herd") == 0) {
        herd(strtoul(argv[2], NULL, 10));
    } else if (strcmp(what, "wait") == 0) {
        announce();
    } else {
        return 2;
    }
    puts("ready");
    while (fgets(order, sizeof(order), stdin)) {
        obey(order, argv);
        fputs(order, stdout);
    }
    return 0;
}
