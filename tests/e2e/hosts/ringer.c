/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A host with thread contexts in a ring, which makes the calls that it is told
 * on stdin, one a line, and prints what each returned, as driver.c does:
 *
 *     abi    storage    tag INDEX
 *     attach NUMBER  every byte of the ids is that
 *     tell TID       what otelctx_get_by_tid() says, and the first byte
 *     crowd COUNT    so many threads attach 1, 2..., and stay
 *     end            a thread attaches 9 and ends; gives its id
 *     fork           a child goes on in its place; gives the child's pid
 *     raw            the same without libc
 *     vfork          a child ends at once
 *     pidns          as fork, into a new pid namespace
 *     close          otelctx_storage_close(), while eight threads attach
 *     read COUNT     so many reads of the slot of a thread that attaches all
 *                    the time; gives how many were mixed of two contexts
 */

#include "shim/otelctx.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int attach(int number)
{
    uint8_t id[16];

    memset(id, number, sizeof(id));
    return otelctx_attach(id, id, 1);
}

static pid_t own_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* Printed behind the result. */
static char shown[32];

static int tell(pid_t tid)
{
    struct otelctx_ids ids;
    const int result = otelctx_get_by_tid(tid, &ids);

    if (result == 0)
        snprintf(shown, sizeof(shown), " %d", ids.trace_id[0]);
    return result;
}

static pthread_barrier_t attached;

static void *attach_and_stay(void *number)
{
    (void)attach((int)(intptr_t)number);
    pthread_barrier_wait(&attached);
    for (;;)
        pause();
    return NULL;
}

static int crowd(int count)
{
    pthread_t thread;

    pthread_barrier_init(&attached, NULL, (unsigned)count + 1);
    for (int i = 1; i <= count; i++)
        if (pthread_create(&thread, NULL, attach_and_stay, (void *)(intptr_t)i))
            return -1;
    pthread_barrier_wait(&attached);
    return 0;
}

static pid_t ended;

static void *attach_and_end(void *unused)
{
    ended = own_id();
    if (attach(9) || tell(ended))
        ended = -1;
    return unused;
}

static int end_a_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, attach_and_end, NULL))
        return -1;
    pthread_join(thread, NULL);
    shown[0] = '\0';
    return ended;
}

/* The parent of a child that goes on ends with it. */
static int go_on(pid_t child)
{
    if (child > 0) {
        waitpid(child, NULL, 0);
        _exit(0);
    }
    return child < 0 ? -errno : getpid();
}

static int end_vforked(void)
{
    const pid_t child =
        vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */

    if (child == 0)
        _exit(0);
    return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int enter_pid_namespace(void)
{
    return unshare(CLONE_NEWPID) ? -errno : go_on(fork());
}

static volatile int failures;

static void *attach_on(void *number)
{
    int result = 0;

    while (result == 0 || result == -EBUSY) /* closed in the middle */
        result = attach((int)(intptr_t)number);
    if (result != -EOPNOTSUPP)
        failures++;
    return NULL;
}

static int close_in_a_storm(void)
{
    pthread_t threads[8];
    int result;

    for (int i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, attach_on,
                           (void *)(intptr_t)(i + 1)))
            return -1;
    usleep(20000);
    result = otelctx_storage_close();
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return result ? result : failures;
}

static volatile pid_t writer;
static volatile int is_over;

/* Contexts of three equal numbers. */
static void *write_on(void *unused)
{
    uint64_t number;

    writer = own_id();
    for (number = 1; !is_over; number++) {
        const uint64_t ids[3] = {number, number, number};

        if (otelctx_attach((const uint8_t *)ids, (const uint8_t *)(ids + 2), 1))
            abort();
    }
    return unused;
}

/* Returns what otelctx_get_by_tid() did. */
static int read_once(int *mixed)
{
    struct otelctx_ids ids;
    uint64_t numbers[3];
    const int result = otelctx_get_by_tid(writer, &ids);

    memcpy(numbers, &ids, sizeof(numbers));
    if (result == 0 && (numbers[0] != numbers[1] || numbers[1] != numbers[2]))
        ++*mixed;
    return result;
}

static int read_on(int count)
{
    int mixed = 0, whole = 0, busy = 0;
    pthread_t thread;

    if (pthread_create(&thread, NULL, write_on, NULL))
        return -1;
    while (whole < count || busy == 0) {
        const int result = read_once(&mixed);

        whole += result == 0;
        busy += result == -EAGAIN;
    }
    is_over = 1;
    pthread_join(thread, NULL);
    return mixed;
}

static int call(const char *name, int number)
{
    if (strcmp(name, "abi") == 0)
        return otelctx_abi();
    if (strcmp(name, "storage") == 0)
        return otelctx_storage();
    if (strcmp(name, "tag") == 0)
        return otelctx_tag((unsigned)number, 1);
    if (strcmp(name, "attach") == 0)
        return attach(number);
    if (strcmp(name, "tell") == 0)
        return tell(number ? number : own_id());
    if (strcmp(name, "crowd") == 0)
        return crowd(number);
    if (strcmp(name, "end") == 0)
        return end_a_thread();
    if (strcmp(name, "fork") == 0)
        return go_on(fork());
    if (strcmp(name, "raw") == 0)
        return go_on((pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L));
    if (strcmp(name, "vfork") == 0)
        return end_vforked();
    if (strcmp(name, "pidns") == 0)
        return enter_pid_namespace();
    if (strcmp(name, "read") == 0)
        return read_on(number);
    if (strcmp(name, "close") == 0)
        return close_in_a_storm();
    return -ENOSYS;
}

int main(void)
{
    char line[64], name[16];
    int number, result;

    setlinebuf(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        number = 0;
        name[0] = shown[0] = '\0';
        if (sscanf(line, "%15s %d", name, &number) < 1)
            continue;
        result = call(name, number);
        printf("%s %d%s\n", name, result, shown);
    }
    return 0;
}
