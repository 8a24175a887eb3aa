/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A host that calls prctl(2) with valid and with invalid arguments, and prints
 * each result and errno.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

static void show(const char *what, int result)
{
    printf("%s: %d %d\n", what, result, errno);
    errno = 77;
}

/* Two pages, of which the second cannot be read. */
static char *two_pages(size_t page)
{
    char *const at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE))
        _exit(1);
    return at;
}

/* Names whose NUL is the last byte of a mapping, or would be beyond it. */
static void name_at_the_end(char *at, size_t page)
{
    static const char name[] = "OTEL_CTX";
    char what[64];

    for (size_t kept = 0; kept <= sizeof(name); kept++) {
        char *const end = at + page - kept;

        memcpy(end, name, kept < sizeof(name) ? kept : sizeof(name));
        snprintf(what, sizeof(what), "%zu bytes of a name", kept);
        show(what, prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0UL, page, end));
    }
}

static void name_mappings(void)
{
    static const char *const names[] = {"",         "OTEL_CT", "OTEL_CTXX",
                                        "otel_ctx", "malloc",  "[bad]"};
    const size_t page = (size_t)getpagesize();
    char *const at = two_pages(page);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        show(names[i],
             prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, page, names[i]));
    show("a name that is not there",
         prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, page, at + page));
    show("a name nowhere",
         prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, page, ~(size_t)0));
    show("no name", prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, page, NULL));
    show("another attribute", prctl(PR_SET_VMA, 1UL, at, page, at + page));
    name_at_the_end(at, page);
}

int main(void)
{
    char name[16] = "";
    int signal = 0;

    errno = 77;
    show("set a name", prctl(PR_SET_NAME, "shop-worker"));
    show("get it", prctl(PR_GET_NAME, name));
    printf("it is %s\n", name);
    show("get it nowhere", prctl(PR_GET_NAME, 1));
    show("set a death signal", prctl(PR_SET_PDEATHSIG, SIGUSR1));
    show("get it", prctl(PR_GET_PDEATHSIG, &signal));
    printf("it is %d\n", signal);
    show("set one that is none", prctl(PR_SET_PDEATHSIG, 1000));
    show("is it dumpable", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
    show("a capability", prctl(PR_CAPBSET_READ, 0, 0, 0, 0));
    show("one that is none", prctl(PR_CAPBSET_READ, 1000, 0, 0, 0));
    show("no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    show("with an argument too many", prctl(PR_GET_NO_NEW_PRIVS, 1, 2, 3, 4));
    show("timer slack", prctl(PR_SET_TIMERSLACK, 123456));
    show("get it", prctl(PR_GET_TIMERSLACK));
    show("no option", prctl(-1, 1, 2, 3, 4));
    show("a filter that is none", prctl(PR_SET_SECCOMP, 2, 0));
    show("a mode that is none", prctl(PR_SET_SECCOMP, 99, 0));
    name_mappings();
    return 0;
}
