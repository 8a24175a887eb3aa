/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/collect/collector.h"
#include "demo/top/command/options.h"
#include "demo/top/output/record.h"
#include "demo/top/replay/replay.h"
#include "demo/top/table/window.h"

#include <sys/types.h>

/* The source of samples, this machine or a recording, and their receivers. */
struct oteltop_session {
    const struct oteltop_options *options;
    struct oteltop_collector collector;
    struct oteltop_replay replay;
    struct oteltop_window window;
    struct oteltop_window total; /* of a recording, when it is shown live */
    struct oteltop_record record;
    uint64_t start_unix_ns;
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    bool wants_total;
};

/*
 * Begins to sample these processes, or all when pids is NULL, or opens the
 * recording. Returns an exit status, after a message unless it is 0.
 */
int oteltop_session_begin(struct oteltop_session *session,
                          const struct oteltop_options *options,
                          const pid_t *pids, size_t count);

/* When oteltop_session_step() has something to do, by CLOCK_MONOTONIC. */
uint64_t oteltop_session_next_ns(const struct oteltop_session *session);

/* Adds the samples since the last step to the window. Returns an exit status,
 * likewise. */
int oteltop_session_step(struct oteltop_session *session);

/* Adds all of a recording, up to this time. Likewise. */
int oteltop_session_skip_to(struct oteltop_session *session, uint64_t at_ns);

/* Looks once more. Call before the last window ends. */
void oteltop_session_finish(struct oteltop_session *session);

/* Ends the window at the last look. Its samples can then be shown. */
void oteltop_session_settle(struct oteltop_session *session);

/* Begins another window. */
void oteltop_session_forget(struct oteltop_session *session);

/* The time of the last look, or in the recording: ns since the start. */
uint64_t oteltop_session_at_ns(const struct oteltop_session *session);

/* The number of sampled processes. */
size_t oteltop_session_processes(const struct oteltop_session *session);

/* Writes the cost of the looks for the programs in one line. */
void oteltop_session_cost(const struct oteltop_session *session, char *out,
                          size_t size);

/* Closes what was recorded, too. Returns an exit status, likewise. */
int oteltop_session_end(struct oteltop_session *session);
