/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A thread under the shim attaches contexts while signal handlers swap others
 * in and out, as fast as timers can send signals. A reader stops the thread at
 * random moments, and must find one whole context or none. hosts/storm.h and
 * hosts/stormer.c say what the thread and its handlers write.
 */

#include "hosts/storm.h"
#include "tests/e2e/step_record.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SAMPLES = 5000, /* at least; more until each of these was seen: */
    SIGHTINGS = 50,
    SAMPLES_MAX = 400 * SAMPLES
};

/* The host under the shim, and its thread that gets the signals. */
struct host {
    pid_t pid, tid;
    int in;
    FILE *out;
    uint64_t slot;
};

enum {
    WRITERS = sizeof(STORM_WRITERS) - 1
};

/* How often the reader saw a context of each writer, no context, and each
 * variant of an attribute's value (the first one, or a replacement). */
struct sightings {
    unsigned of[WRITERS], none, values[STORM_VARIANTS];
    uint32_t last; /* number of the thread's contexts */
};

static struct host start(void)
{
    const char *const program = getenv("OTELCTX_STORMER");
    const char *const shim = getenv("OTELCTX_SHIM");
    int in[2], out[2];
    struct host host;

    cr_assert(program && shim && pipe(in) == 0 && pipe(out) == 0);
    host =
        (struct host){.pid = fork(), .in = in[1], .out = fdopen(out[0], "r")};
    cr_assert_geq(host.pid, 0);
    if (host.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        setenv("LD_PRELOAD", shim, 1);
        setenv("OTELCTX_ATTRIBUTE_KEYS", "k.0,k.1,k.2", 1);
        setenv("OTELCTX_ON_OTHER_PUBLISHER", "keep", 1); /* see start/watch.h */
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    cr_assert_eq(fscanf(host.out, "%d %lx", &host.tid, &host.slot), 2);
    return host;
}

/* Waits while another tracer, which reads all threads of this machine, has it.
 */
static void seize(pid_t tid)
{
    const struct timespec moment = {0, 1000000};

    for (int i = 0; ptrace(PTRACE_SEIZE, tid, 0, 0) != 0; i++) {
        STEP_ASSERT(errno == EPERM && i < 60000, "seize: %s", strerror(errno));
        nanosleep(&moment, NULL);
    }
}

/* Stops the thread for one look, and lets it go on. Passes on a signal that was
 * about to be delivered. */
static void sample(const struct host *host, struct seen *seen)
{
    int status, signal = 0;

    seize(host->tid);
    STEP_ASSERT(ptrace(PTRACE_INTERRUPT, host->tid, 0, 0) == 0 &&
                    waitpid(host->tid, &status, __WALL) == host->tid,
                "stop: %s", strerror(errno));
    STEP_ASSERT(WIFSTOPPED(status), "the thread is gone: %x", status);
    see(host->tid, host->slot, seen);
    if (status >> 16 == 0)
        signal = WSTOPSIG(status);
    STEP_ASSERT(ptrace(PTRACE_DETACH, host->tid, 0, signal) == 0, "let go: %s",
                strerror(errno));
}

/* Lets the thread run for the time of one call to a few hundred calls. */
static void wait_a_little(void)
{
    static uint32_t random = 1;
    struct timespec start, now;

    random = random * 1664525 + 1013904223;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec -
               start.tv_nsec <
           random >> 17);
}

static uint32_t word_of(const struct seen *seen)
{
    uint32_t word;

    memcpy(&word, seen->head.trace_id, sizeof(word));
    return word;
}

static void check_ids(const struct seen *seen)
{
    const struct storm_ids ids = storm_ids(word_of(seen));

    STEP_ASSERT(memcmp(seen->head.trace_id, ids.trace_id, 16) == 0 &&
                    memcmp(seen->head.span_id, ids.span_id, 8) == 0 &&
                    seen->head.trace_flags == ids.flags,
                "ids of two contexts");
}

/* Which of the values that this attribute can have in this context it has. */
static unsigned variant_of(const struct seen *seen, unsigned key)
{
    char value[STORM_VALUE_MAX];

    for (unsigned variant = 0; variant < STORM_VARIANTS; variant++) {
        const size_t size = storm_value(word_of(seen), key, variant, value);

        if (seen->value[key].size == size &&
            memcmp(seen->value[key].at, value, size) == 0)
            return variant;
    }
    return STORM_VARIANTS; /* none of them */
}

static void check_attribute(const struct seen *seen, unsigned key,
                            struct sightings *sightings)
{
    const unsigned variant =
        key < STORM_KEYS ? variant_of(seen, key) : STORM_VARIANTS;

    if (variant < STORM_VARIANTS)
        sightings->values[variant]++;
    else
        cr_assert_fail("attribute %u of %08x: %.*s", key, word_of(seen),
                       seen->value[key].size,
                       (const char *)seen->value[key].at);
}

/* One whole context of one writer, or none. */
static void check(const struct seen *seen, struct sightings *sightings)
{
    const uint32_t word = word_of(seen);
    const char *const writer =
        memchr(STORM_WRITERS, (int)(word >> 24), WRITERS);

    if (!seen_attached(seen)) {
        sightings->none++;
        return;
    }
    check_ids(seen);
    STEP_ASSERT(writer, "nobody wrote %08x", word);
    STEP_ASSERT(seen->whole, "attributes of %08x are cut", word);
    for (unsigned key = 0; key < OTELCTX_KEYS_MAX; key++)
        if (seen->value[key].at)
            check_attribute(seen, key, sightings);
    sightings->of[writer - STORM_WRITERS]++;
    if (*writer != 'O' && *writer != 'P')
        return;
    STEP_ASSERT((word & 0xffffff) >= sightings->last, "%08x came back", word);
    sightings->last = word & 0xffffff;
}

static unsigned rarest(const struct sightings *s)
{
    unsigned least = s->none;

    for (unsigned i = 0; i < WRITERS; i++)
        least = s->of[i] < least ? s->of[i] : least;
    for (unsigned i = 0; i < STORM_VARIANTS; i++)
        least = s->values[i] < least ? s->values[i] : least;
    return least;
}

/* After the signals: the context attached last, with its last changes. */
static void check_last(const struct host *host)
{
    unsigned long handled;
    unsigned number, deepest;
    struct seen seen;
    char fault[64];

    cr_assert_eq(write(host->in, "\n", 1), 1);
    cr_assert_eq(fscanf(host->out, "%u %lu %u %63[^\n]", &number, &handled,
                        &deepest, fault),
                 4);
    cr_expect_str_eq(fault, "-", "%s", fault);
    cr_expect_gt(handled, SAMPLES / 10, "%lu handlers", handled);
    cr_expect_eq(deepest, STORM_SIGNALS, "handlers %u deep", deepest);

    sample(host, &seen);
    check_ids(&seen);
    cr_expect_eq(word_of(&seen), storm_word('O', number), "%08x",
                 word_of(&seen));
    cr_assert(seen_attached(&seen) && seen.whole);
    cr_expect_null(seen.value[0].at);
    cr_expect_eq(variant_of(&seen, 1), 1);
    cr_expect_eq(variant_of(&seen, 2), 0);
}

Test(signal_storm, a_reader_sees_a_whole_context_of_the_thread_or_of_a_handler,
     .timeout = 1200)
{
    const struct host host = start();
    struct sightings sightings = {.none = 0};
    struct seen seen;
    int status;

    for (unsigned i = 0; i < SAMPLES || rarest(&sightings) < SIGHTINGS; i++) {
        STEP_ASSERT(i < SAMPLES_MAX,
                    "seen: no context %u, O %u, P %u, A %u, B %u, C %u, "
                    "first values %u, second values %u",
                    sightings.none, sightings.of[0], sightings.of[1],
                    sightings.of[2], sightings.of[3], sightings.of[4],
                    sightings.values[0], sightings.values[1]);
        wait_a_little();
        sample(&host, &seen);
        check(&seen, &sightings);
    }

    check_last(&host);
    close(host.in);
    cr_assert_eq(waitpid(host.pid, &status, 0), host.pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x",
              status);
}
