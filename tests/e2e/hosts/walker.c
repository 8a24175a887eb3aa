/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A host that walks its own stack in a signal handler, as a profiler in the
 * process does, through every function of the API:
 *
 *     walker step   at each instruction of the shim, from its constructor on
 *     walker timer  10,000 times a second, until SAMPLES came in each group of
 * calls walker plain  never: something else walks
 *
 * Built with WITH_LIBUNWIND, that walks; otherwise backtrace(3), or what is
 * behind it in musl. Under glibc each walk must reach the frame in which the
 * first one ended. Prints whether there were walks in the constructor, and in
 * the calls.
 */

#include "stepping.h"

#include "shim/otelctx.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SAMPLES = 300,
    ROUNDS = 300, /* when something else walks */
    DEEPEST = 64
};

static volatile unsigned long samples, in_constructor;
static void *outermost;

/* ---- walks -------------------------------------------------------------- */

#ifdef __GLIBC__
static const bool is_whole = true;
#else
static const bool is_whole =
    false; /* a walk ends in musl, which has no tables */
#endif

#ifdef WITH_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>

static int walk(void *frames[DEEPEST])
{
    return unw_backtrace(frames, DEEPEST);
}
#elif defined(__GLIBC__)
#include <execinfo.h>

static int walk(void *frames[DEEPEST])
{
    return backtrace(frames, DEEPEST);
}
#else
#include <unwind.h>

/* libgcc was compiled for glibc, which has this function. */
struct found {
    unsigned long long flags;
    void *begin, *end, *link_map, *unwind, *reserved[7];
};

static int note_found(struct dl_phdr_info *object, size_t size, void *at)
{
    struct found *const found = at;
    bool is_in = false;

    (void)size;
    found->unwind = NULL;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &object->dlpi_phdr[i];
        char *const begin = (char *)object->dlpi_addr + part->p_vaddr;

        is_in |= part->p_type == PT_LOAD && (char *)found->begin >= begin &&
                 (char *)found->begin < begin + part->p_memsz;
        if (part->p_type == PT_GNU_EH_FRAME)
            found->unwind = begin;
    }
    return is_in && found->unwind;
}

int _dl_find_object(void *address, struct found *found);
int _dl_find_object(void *address, struct found *found)
{
    found->begin = address;
    return dl_iterate_phdr(note_found, found) ? 0 : -1;
}

struct walked {
    void **frames;
    int count;
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *frame, void *at)
{
    struct walked *const walked = at;

    if (walked->count == DEEPEST)
        return _URC_END_OF_STACK;
    walked->frames[walked->count++] = (void *)_Unwind_GetIP(frame);
    return _URC_NO_REASON;
}

static int walk(void *frames[DEEPEST])
{
    struct walked walked = {frames, 0};

    _Unwind_Backtrace(note_frame, &walked);
    return walked.count;
}
#endif

static void *walk_to_end(void)
{
    void *frames[DEEPEST] = {NULL};
    int count = walk(frames);

    while (count > 0 && !frames[count - 1])
        count--;
    return count > 0 ? frames[count - 1] : NULL;
}

static void handle(int number, siginfo_t *info, void *context)
{
    (void)info;
    if (number == SIGTRAP && !stepping_in_shim(context))
        return;
    samples++;
    if (walk_to_end() != outermost && is_whole)
        abort();
}

static void begin_walks(void)
{
    struct sigaction action = {.sa_sigaction = handle,
                               .sa_flags = SA_SIGINFO | SA_RESTART};

    dl_iterate_phdr(stepping_note_shim, NULL);
    outermost = walk_to_end();
    sigaction(SIGTRAP, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

/* Before any constructor; musl does not call it. */
static void before_constructors(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "step") != 0)
        return;
    begin_walks();
    stepping_begin();
}
__attribute__((section(".preinit_array"),
               used)) static void (*const first)(int,
                                                 char **) = before_constructors;

/* ---- calls -------------------------------------------------------------- */

static const uint8_t trace_id[16] = {1}, span_id[8] = {2};

static void call_thread(void)
{
    static const char parent[] =
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    static struct otelctx_record record;
    static const struct otelctx_attribute some[] = {
        {0, 3, "one"}, {1, 3, "two"}, {0, 3, "new"}};
    struct otelctx_record *previous = NULL;
    struct otelctx_ids ids;

    otelctx_attach(trace_id, span_id, 1);
    otelctx_attr(0, "one", 3);
    otelctx_attr(1, "two", 3);
    otelctx_attr(0, "three", 5);
    otelctx_attr_unset(1);
    otelctx_get(&ids);
    otelctx_get_by_tid((pid_t)syscall(SYS_gettid), &ids);
    otelctx_attach_traceparent(parent, sizeof(parent) - 1);
    otelctx_record_init(&record, trace_id, span_id, 1);
    otelctx_record_attr(&record, 0, "four", 4);
    otelctx_attach_with(trace_id, span_id, 1, some, 2);
    otelctx_attach_with(trace_id, span_id, 1, some, 3);
    otelctx_record_init_with(&record, trace_id, span_id, 1, some, 2);
    otelctx_swap(&record, &previous);
    otelctx_attr(0, "five", 4);
    otelctx_swap(previous, &previous);
    otelctx_detach();
    otelctx_pin();
    otelctx_attr(0, "six", 3);
    otelctx_detach();
    otelctx_attach64(3, 4);
    otelctx_tag(0, 5);
    otelctx_detach();
    otelctx_storage();
}

static void call_process(void)
{
    static unsigned round;
    char text[8];

    snprintf(text, sizeof(text), "%u", ++round % 1000);
    otelctx_abi();
    otelctx_process_set("round", text);
    otelctx_process_set_extra("extra", text);
    otelctx_process_publish();
    otelctx_key("key.2");
    otelctx_key("key.3");
    otelctx_process_drop();
    otelctx_process_publish();
}

static void call_fork(void)
{
    int status = 0;
    pid_t child;

    if (!is_whole)
        stepping_end(); /* musl blocks all signals, and a blocked SIGTRAP kills
                         */
    child = fork();
    if (child == 0)
        _exit(0);
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        abort();
}

/* From one second after the start on, one of 64 thread calls looks for another
 * publisher. */
static void call_watch(void)
{
    static bool waited;

    while (!waited && usleep(1100000) == 0)
        waited = true;
    for (int i = 0; i < 32; i++)
        otelctx_detach();
}

static void call_close(void)
{
    otelctx_storage_close();
    otelctx_attach(trace_id, span_id, 1);
}

static void (*const groups[])(void) = {
    call_thread, call_process, call_fork, call_watch, call_thread, call_close,
};

int main(int argc, char **argv)
{
    const char *const how = argc > 1 ? argv[1] : "plain";
    const bool is_timed = strcmp(how, "timer") == 0;
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0}, {0}};

    stepping_end();
    in_constructor = samples;
    if (strcmp(how, "plain") != 0)
        begin_walks();
    if (is_timed)
        setitimer(ITIMER_REAL, &often, NULL);
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        const unsigned long until = samples + SAMPLES;
        int round = 0;

        if (strcmp(how, "step") == 0)
            stepping_begin();
        do
            groups[i]();
        while (++round < (strcmp(how, "plain") == 0 ? ROUNDS : 2) ||
               (is_timed && samples < until));
        stepping_end();
    }
    /* libgcc's destructor has no table that is true at each instruction. */
    setitimer(ITIMER_REAL, &never, NULL);
    printf("constructor %s, calls %s\n", in_constructor > 0 ? "walked" : "not",
           samples > in_constructor ? "walked" : "not");
    return 0;
}
