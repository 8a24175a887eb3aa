/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/all.h"

#include "demo/reader/command/once.h"
#include "demo/reader/os/helper.h"
#include "demo/reader/os/permission.h"
#include "demo/reader/os/processes.h"
#include "demo/reader/report/threads.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* To read fewer processes takes less time than a fork saves. */
#define SLICE_MIN  256
#define SLICES_MAX 8

struct tally {
    size_t shown;
    size_t denied;
    pid_t last_denied;
    size_t read; /* with permission, whether there was a context or not */
};

static void show_some(struct otelread_output *output,
                      const struct otelread_report *report, struct tally *tally)
{
    switch (report->status) {
    case OTELREAD_NO_PROCESS:
        return;
    case OTELREAD_NO_PERMISSION:
        tally->denied++;
        tally->last_denied = report->target.pid;
        return;
    case OTELREAD_NO_CONTEXT:
        if (!report->threads ||
            !otelread_threads_have_storage(report->threads)) {
            tally->read++;
            return;
        }
        tally->shown++;
        break;
    case OTELREAD_OK:
    case OTELREAD_SEVERAL:
        tally->shown++;
        break;
    case OTELREAD_ERROR:
    case OTELREAD_USAGE:
    case OTELREAD_INVALID:
    case OTELREAD_BUSY:
    default:
        break;
    }
    tally->read++;
    otelread_show(output, report);
}

/* What standard error says about those that are not shown. */
static void tell(const struct tally *tally)
{
    if (tally->denied > 0)
        (void)fprintf(stderr,
                      "otelctx-read: %zu process%s could not be read: no "
                      "permission\n"
                      "otelctx-read: %s\n",
                      tally->denied, tally->denied == 1 ? "" : "es",
                      otelread_permission_advice(tally->last_denied));
    if (tally->shown == 0)
        (void)fprintf(stderr, "otelctx-read: no process%s has a context\n",
                      tally->denied > 0 ? " that could be read" : "");
}

static int exit_status(const struct tally *tally)
{
    if (tally->shown > 0)
        return OTELREAD_OK;
    return tally->denied > 0 && tally->read == 0 ? OTELREAD_NO_PERMISSION
                                                 : OTELREAD_NO_CONTEXT;
}

/* Those that one worker reads, in memory that it shares with its parent. */
struct slice {
    const pid_t *pids;
    size_t count;
    struct tally tally;
    pid_t worker; /* a child; 0: none could be forked */
    int text;     /* what it prints: a memfd */
    bool done;    /* by the worker */
};

static void slice_show(struct slice *slice, struct otelread_output *output,
                       enum otelread_depth depth)
{
    struct otelread_report report = {.status = OTELREAD_OK};

    slice->tally = (struct tally){.shown = 0};
    for (size_t i = 0; i < slice->count && !output->failed; i++) {
        otelread_once_make(&report, slice->pids[i], depth);
        show_some(output, &report, &slice->tally);
    }
    otelread_report_free(&report);
}

__attribute__((noreturn)) static void slice_work(struct slice *slice,
                                                 struct otelread_output output,
                                                 enum otelread_depth depth,
                                                 pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(slice->text, STDOUT_FILENO) < 0)
        _exit(1);
    slice_show(slice, &output, depth);
    otelread_helper_end();
    slice->done = !output.failed;
    _exit(0);
}

static void slice_begin(struct slice *slice,
                        const struct otelread_output *output,
                        enum otelread_depth depth)
{
    const pid_t parent = getpid();

    slice->text = memfd_create("otelctx-read", MFD_CLOEXEC);
    if (slice->text < 0)
        return;
    const pid_t worker = fork();
    if (worker == 0)
        slice_work(slice, *output, depth, parent);
    if (worker > 0)
        slice->worker = worker;
    else
        (void)close(slice->text);
}

/* Returns whether the text of the worker was printed. */
static bool slice_copy(const struct slice *slice,
                       struct otelread_output *output)
{
    struct stat stat;

    if (fstat(slice->text, &stat) != 0)
        return false;
    if (stat.st_size == 0)
        return true;
    const size_t size = (size_t)stat.st_size;
    char *const text = mmap(NULL, size, PROT_READ, MAP_SHARED, slice->text, 0);
    if (text == MAP_FAILED)
        return false;
    otelread_show_text(output, text, size);
    (void)munmap(text, size);
    return true;
}

/* What a worker did not do is done here. */
static void slice_end(struct slice *slice, struct otelread_output *output,
                      enum otelread_depth depth)
{
    if (slice->worker != 0) /* ECHILD if this process ignores SIGCHLD */
        (void)waitpid(slice->worker, NULL, 0);
    if (!slice->done || !slice_copy(slice, output))
        slice_show(slice, output, depth);
    if (slice->worker != 0)
        (void)close(slice->text);
}

/* One for each processor, unless they have little to do, or a memfd might
 * exceed the limit of file sizes. */
static size_t slices_wanted(const struct otelread_output *output, size_t count,
                            enum otelread_depth depth)
{
    cpu_set_t processors;
    struct rlimit limit;

    if (output->table || depth != OTELREAD_DEPTH_PROCESS ||
        sched_getaffinity(0, sizeof(processors), &processors) != 0 ||
        getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
        return 1;
    size_t wanted = (size_t)CPU_COUNT(&processors);
    if (wanted > count / SLICE_MIN)
        wanted = count / SLICE_MIN;
    if (wanted > SLICES_MAX)
        wanted = SLICES_MAX;
    return wanted > 0 ? wanted : 1;
}

static void tally_add(struct tally *sum, const struct tally *tally)
{
    sum->shown += tally->shown;
    sum->denied += tally->denied;
    sum->read += tally->read;
    if (tally->denied > 0)
        sum->last_denied = tally->last_denied;
}

/* The first slice is read here, while workers read the others. */
static struct tally show_all(struct slice *slices, size_t wanted,
                             struct otelread_output *output,
                             enum otelread_depth depth)
{
    struct tally sum = {.shown = 0};

    for (size_t i = 1; i < wanted; i++)
        slice_begin(&slices[i], output, depth);
    /* When a write fails, this process ends, and its workers with it. */
    for (size_t i = 0; i < wanted && !output->failed; i++) {
        slice_end(&slices[i], output, depth);
        tally_add(&sum, &slices[i].tally);
    }
    return sum;
}

static void divide(struct slice *slices, size_t wanted, const pid_t *pids,
                   size_t count)
{
    for (size_t i = 0; i < wanted; i++) {
        const size_t begin = count * i / wanted;

        slices[i] = (struct slice){.pids = pids + begin,
                                   .count = count * (i + 1) / wanted - begin};
    }
}

int otelread_all(struct otelread_output *output, enum otelread_depth depth)
{
    const size_t size = SLICES_MAX * sizeof(struct slice);
    struct slice *const slices = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t *pids = NULL;
    size_t count = 0;

    const int error =
        slices == MAP_FAILED ? -errno : otelread_processes_list(&pids, &count);
    if (error != 0) {
        (void)fprintf(stderr, "otelctx-read: cannot list processes: %s\n",
                      strerror(-error));
        return OTELREAD_ERROR;
    }
    const size_t wanted = slices_wanted(output, count, depth);
    divide(slices, wanted, pids, count);
    const struct tally tally = show_all(slices, wanted, output, depth);
    (void)munmap(slices, size);
    free(pids);
    tell(&tally);
    return output->failed ? OTELREAD_ERROR : exit_status(&tally);
}
