/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-top: what the machine works for, by service, route and trace. */

#include "demo/reader/command/targets.h"
#include "demo/reader/os/helper.h"
#include "demo/reader/os/identify.h"
#include "demo/reader/os/stat.h"
#include "demo/top/command/complain.h"
#include "demo/top/command/live.h"
#include "demo/top/command/once.h"
#include "demo/top/command/options.h"
#include "demo/top/command/signals.h"
#include "demo/top/screen/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>

#define NO_PROCESS 3

/* Raises the limit: each thread takes a descriptor. */
static void allow_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Raises the priority: a stopped thread waits for this program to run. */
static void be_prompt(void)
{
    (void)setpriority(PRIO_PROCESS, 0, -20);
}

static bool is_live(const struct oteltop_options *options)
{
    return !options->once && !options->folded && !options->pprof &&
           !options->otlp_json && oteltop_terminal_is_there();
}

/*
 * Samples these processes, or all when pids is NULL, or replays a recording,
 * and shows what the options say. Returns an exit status.
 */
static int run_session(const struct oteltop_options *options, const pid_t *pids,
                       size_t count)
{
    struct oteltop_session session;

    oteltop_signals_catch();
    if (!options->replay) {
        allow_descriptors();
        be_prompt();
    }

    int status = oteltop_session_begin(&session, options, pids, count);
    if (status == 0)
        status =
            is_live(options) ? oteltop_live(&session) : oteltop_once(&session);
    if (oteltop_session_end(&session) != 0)
        status = 1;
    return status;
}

/* Keeps the processes that exist, each once; a thread's id stands for its
 * process. */
static int keep_existing(struct otelread_targets *targets)
{
    size_t kept = 0;
    int status = 0;

    for (size_t i = 0; i < targets->count; i++) {
        const pid_t process = otelread_identify_thread(targets->pids[i]);
        const pid_t pid = process != 0 ? process : targets->pids[i];
        struct otelread_stat stat;
        size_t same = 0;

        if (otelread_stat_read(pid, pid, &stat) != 0) {
            (void)fprintf(stderr, "otelctx-top: there is no process %d\n",
                          (int)pid);
            status = NO_PROCESS;
            continue;
        }
        while (same < kept && targets->pids[same] != pid)
            same++;
        targets->pids[same] = pid;
        if (same == kept)
            kept++;
    }
    targets->count = kept;
    return status;
}

static int run(const struct oteltop_options *options)
{
    struct otelread_targets targets = {.count = 0};

    if (options->help)
        return otelbase_options_help(&oteltop_program);
    if (options->version)
        return otelbase_options_version(&oteltop_program);
    if (options->count == 0)
        return run_session(options, NULL, 0);

    const int found =
        otelread_targets_find(&targets, options->words, options->count);
    const int checked = keep_existing(&targets);
    int status = 0;
    if (targets.count > 0)
        status = run_session(options, targets.pids, targets.count);
    free(targets.pids);
    return status != 0 ? status : found != 0 ? found : checked;
}

int main(int argc, char **argv)
{
    struct oteltop_options options;
    int status = oteltop_options_parse(&options, argc, argv);

    if (status == 0)
        status = run(&options);
    oteltop_dimensions_free(&options.by);
    otelread_helper_end();
    if (oteltop_close(stdout, "standard output") != 0 && status == 0)
        status = 1;
    return status;
}
