/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/fork.h"

#include "shim/base/host.h"
#include "shim/process/filter.h"
#include "shim/process/guard.h"
#include "shim/process/state.h"
#include "shim/thread/storage.h"

struct otelctx_lock otelctx_start_lock;

/*
 * The parent holds the lock during the fork, so that nothing is half done in
 * the child. Unless the forking thread holds it already: then a signal handler
 * forks in the middle of a call, and its child will return into that call.
 */
static void prepare(void)
{
    if (!otelctx_state_is_used() || otelctx_guard_enter_to_fork() == 0)
        return;
    if (otelctx_state_is_locked_by_me())
        otelctx_state_begin_handler_fork();
}

static void parent(void)
{
    if (!otelctx_state_is_used() || !otelctx_state_is_locked_by_me())
        return;
    if (otelctx_state_is_in_handler_fork())
        otelctx_state_end_handler_fork();
    else
        otelctx_guard_leave();
}

/* A seccomp filter that came later may not know the shim's system calls. */
static void begin_child_threads(void)
{
    struct otelctx_variables v;

    if (!otelctx_storage_has_others())
        return;
    v = otelctx_thread_variables();
    otelctx_storage_begin_child(v.self, v.slot, otelctx_filter_came());
}

static void begin_child_process(void)
{
    if (otelctx_start_lock.word != 0 &&
        !otelctx_lock_is_mine(&otelctx_start_lock))
        otelctx_store(&otelctx_start_lock.word, 0);
    if (!otelctx_state_is_used()) {
        otelctx_state_begin_unused_child();
        return;
    }
    if (otelctx_state_is_in_handler_fork()) {
        otelctx_state_adopt_copy();
        parent();
        otelctx_guard_child_resume(otelctx_guard_child_does());
        return;
    }
    if (otelctx_state_is_locked_by_me())
        otelctx_state_wipe_inherited();
    if (otelctx_guard_enter() == 0)
        otelctx_guard_leave();
}

static void child(void)
{
    begin_child_process();
    begin_child_threads();
}

void otelctx_fork_start(void)
{
    (void)otelctx_host_at_fork(prepare, parent, child);
}
