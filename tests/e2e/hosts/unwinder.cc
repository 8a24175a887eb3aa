// SPDX-License-Identifier: Apache-2.0

// A host with threads that leave thread calls by unwinding, from a signal
// handler: the first at the first instruction of the shim, the second at the
// second, and so on, until a thread comes to the end of its calls:
//
//     unwinder throw    by an exception, which the thread catches
//     unwinder cancel   by asynchronous cancellation, which runs the cleanup
//     handler
//
// Prints what each thread did that did not end in that way; and "all" after
// them.

#include "stepping.h"

#include "shim/otelctx.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static bool is_thrown;
static long left; // instructions until then
static int cleaned;

struct departure {
};

static void handle(int, siginfo_t *, void *context)
{
    if (!stepping_in_shim(context) || --left > 0)
        return;
    stepping_end();
    static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL] &= ~0x100L;
    if (is_thrown)
        throw departure();
    pthread_cancel(pthread_self());
}

static void call()
{
    static const unsigned char trace_id[16] = {1}, span_id[8] = {2};

    stepping_begin();
    otelctx_attach(trace_id, span_id, 1);
    otelctx_attr(0, "value", 5);
    otelctx_detach();
    stepping_end();
}

static void clean(void *)
{
    cleaned++;
}

static void *run(void *)
{
    int before;

    pthread_cleanup_push(clean, nullptr);
    if (is_thrown) {
        try {
            call();
        } catch (const departure &) {
            cleaned++;
        }
    } else {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
        call();
    }
    pthread_cleanup_pop(0);
    return nullptr;
}

int main(int, char **argv)
{
    struct sigaction action = {};

    is_thrown = strcmp(argv[1], "throw") == 0;
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGTRAP, &action, nullptr);
    dl_iterate_phdr(stepping_note_shim, nullptr);
    for (long n = 1;; n++) {
        pthread_t thread;
        void *result;

        left = n;
        cleaned = 0;
        pthread_create(&thread, nullptr, run, nullptr);
        pthread_join(thread, &result);
        if (left > 0)
            return printf(n > 50 ? "all\n" : "%ld\n", n) < 0;
        if (cleaned != 1 || (result == PTHREAD_CANCELED) == is_thrown)
            printf("%ld: cleaned %d\n", n, cleaned);
    }
}
