/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/run.h"

#include "demo/top/command/live.h"
#include "demo/top/command/once.h"
#include "demo/top/command/signals.h"
#include "demo/top/screen/terminal.h"

#include <sys/resource.h>

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

int oteltop_run(const struct oteltop_options *options, const pid_t *pids,
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
