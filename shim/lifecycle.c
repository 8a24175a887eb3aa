/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lifecycle.h"

#include "shim/clock.h"
#include "shim/context.h"
#include "shim/diag.h"
#include "shim/host.h"
#include "shim/lock.h"
#include "shim/maps.h"
#include "shim/memory.h"
#include "shim/order.h"
#include "shim/prctl.h"
#include "shim/sys.h"

static bool republishes, yields;

/* A filter that came after we started may kill who makes our system calls: even
 * the one that would tell whether it was a child of vfork that asked for it. */
static bool filter_noted;
static int mode_before; /* our first publication; 1 more than it was */

/* Where the host has named a mapping of its own; 0: nowhere. */
static uint64_t other_publisher;
static bool told;

/* To look for one in the maps takes up to 1/LOOK_SHARE of the time; more, when
 * it takes long, for the next look does not wait longer than that. */
enum {
    LOOK_SHARE = 1000,
    SCRATCH = 2048
};
static const uint64_t pause_max_ns = 10 * (uint64_t)1000000000;
static uint64_t next_look_ns;

void otelctx_lifecycle_note_filter(void)
{
    filter_noted = true;
}

static bool filter_came(void)
{
    return filter_noted || 1 + otelctx_sys_seccomp() != mode_before;
}

/* ---- Another publisher -------------------------------------------------- */

static void *our_mapping(void)
{
    return otelctx_memory.wiped.publication.mapping.at;
}

static bool is_time_to_look(void)
{
    return otelctx_context_now() >= next_look_ns && !filter_came();
}

/* Those who publish without libc are in the maps, and nowhere else. */
OTELCTX_RARE static bool look(void)
{
    const uint64_t now_ns = otelctx_context_now();
    uint64_t pause_ns;
    bool found;

    found = otelctx_maps_has_other(our_mapping(),
                                   otelctx_context_scratch(SCRATCH), SCRATCH);
    pause_ns = LOOK_SHARE * (otelctx_clock_update() - now_ns);
    next_look_ns = now_ns + (pause_ns < pause_max_ns ? pause_ns : pause_max_ns);
    return found;
}

static void tell_yielded(void)
{
    told = true;
    otelctx_line_tell(OTELCTX_LOG_INFO,
                      "another publisher is in this process: its process "
                      "context counts, ours is withdrawn");
}

void otelctx_lifecycle_check(bool at_start)
{
    const uint64_t other = otelctx_load_acquire(&other_publisher);

    if (mode_before == 0)
        mode_before = 1 + otelctx_sys_seccomp();
    if (!yields || otelctx_context_has_yielded())
        return;
    if (other || (!(at_start && otelctx_prctl_is_hosts()) &&
                  is_time_to_look() && look()))
        otelctx_context_yield((const void *)(uintptr_t)other);
}

void otelctx_lifecycle_note_publisher(const void *at)
{
    otelctx_store_release(&other_publisher, (uintptr_t)at);
    if (otelctx_memory_is_used() && otelctx_lifecycle_enter() == 0)
        otelctx_lifecycle_leave();
    /* Else whoever was interrupted leaves soon. */
}

/* ---- Enter and leave ---------------------------------------------------- */

static enum otelctx_child what_child_does(void)
{
    if (!republishes)
        return OTELCTX_CHILD_DROPS;
    return otelctx_context_is_shown() && filter_came()
               ? OTELCTX_CHILD_MUST_BE_QUIET
               : OTELCTX_CHILD_PUBLISHES;
}

/* Also a child of a fork that libc knows nothing of begins here. */
int otelctx_lifecycle_enter(void)
{
    const int err = otelctx_context_enter();

    if (err)
        return err;
    if (!otelctx_memory.wiped.is_old)
        otelctx_context_begin_child(what_child_does());
    otelctx_context_catch_up();
    return 0;
}

void otelctx_lifecycle_leave(void)
{
    if (otelctx_memory.wiped.resumed)
        otelctx_context_end_resumed();
    if (otelctx_load_acquire(&other_publisher))
        otelctx_lifecycle_check(false);
    if (otelctx_context_has_yielded() && !told)
        tell_yielded();
    otelctx_context_leave();
}

/* Not part of its callers, which are two: so all that it calls is part of it,
 * and its system call, see otelctx_sys_name(), is made as near to them as can
 * be. */
__attribute__((noinline)) int otelctx_lifecycle_publish(bool at_start)
{
    int err;

    otelctx_lifecycle_check(at_start);
    err = otelctx_context_publish();
    if (!at_start)
        otelctx_lifecycle_leave();
    return err;
}

/* ---- Fork --------------------------------------------------------------- */

/*
 * The lock is held, so that nothing is half done in the child. Unless it is
 * this very thread that has it: then a signal handler forks, in the middle of
 * a call, and its child will return into that call.
 */
static void prepare(void)
{
    if (!otelctx_memory_is_used())
        return;
    if (otelctx_lifecycle_enter() == 0) {
        if (otelctx_context_is_shown() && republishes)
            otelctx_lifecycle_check(false);
    } else if (otelctx_lock_is_mine(&otelctx_memory.wiped.lock)) {
        otelctx_memory.wiped.forks++;
        otelctx_memory_pass(true);
    }
}

static void parent(void)
{
    if (!otelctx_memory_is_used() ||
        !otelctx_lock_is_mine(&otelctx_memory.wiped.lock))
        return;
    if (otelctx_memory.wiped.forks == 0) {
        otelctx_lifecycle_leave();
        return;
    }
    otelctx_memory.wiped.forks--;
    otelctx_memory_pass(false);
}

static void child(void)
{
    uint64_t none = 0;

    if (!otelctx_memory_is_used()) {
        otelctx_memory_begin_child();
        return;
    }
    /* Asked by writing: the page is not there yet, and is to be written. */
    if (!otelctx_swap_if(&otelctx_memory.wiped.forks, &none, 0)) {
        otelctx_memory_adopt();
        parent();
        otelctx_context_resume_in_child(what_child_does());
        return;
    }
    if (otelctx_lock_is_mine(&otelctx_memory.wiped.lock))
        otelctx_memory_wipe(); /* the kernel has not */
    if (otelctx_lifecycle_enter() == 0)
        otelctx_lifecycle_leave();
}

void otelctx_lifecycle_start(const struct otelctx_options *options)
{
    static uint64_t started;
    uint64_t no = 0;

    if (!otelctx_swap_if(&started, &no, 1))
        return;
    republishes = options->fork == OTELCTX_FORK_REPUBLISH;
    yields = options->on_other_publisher == OTELCTX_ON_OTHER_YIELD;
    (void)otelctx_host_at_fork(prepare, parent, child);
}
