/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/rival.h"

#include "shim/base/clock.h"
#include "shim/base/log.h"
#include "shim/base/order.h"
#include "shim/process/context.h"
#include "shim/process/filter.h"
#include "shim/process/own_maps.h"
#include "shim/process/state.h"

/* Until otelctx_rival_start() both `yields` and `keeps` are false. */
static bool yields, keeps, prctl_is_seen;

/* The address of the mapping that the host named last; 0 once it is taken. */
static uint64_t named_at;
static bool logged_that_yielded;

/* Reading /proc/self/maps takes at most 1/SEARCH_SHARE of the time, or more
 * where one search takes longer than pause_max_ns / SEARCH_SHARE. */
enum {
    SEARCH_SHARE = 1000,
    SCRATCH = 2048
};
static const uint64_t pause_max_ns = 10 * (uint64_t)1000000000;
/* When the last search began, and the pause that follows a search. */
static uint64_t searched_ns, pause_ns;

void otelctx_rival_start(bool yields_, bool prctl_is_seen_)
{
    yields = yields_;
    keeps = !yields_;
    prctl_is_seen = prctl_is_seen_;
    pause_ns = yields ? 0 : UINT64_MAX;
}

bool otelctx_rival_note(const void *at)
{
    if (keeps || !otelctx_publication_is_taken(at, false))
        return false;
    otelctx_store_release(&named_at, (uintptr_t)at);
    return true;
}

OTELCTX_RARE static const void *search_maps(void)
{
    const void *const ours = otelctx_state_publication()->mapping.at;
    const uint64_t handler_forks = otelctx_state_handler_forks();
    const uint64_t now_ns = otelctx_clock_read();
    struct otelctx_own_maps maps;
    uint64_t pause;

    otelctx_own_maps_look(ours, otelctx_state_scratch(SCRATCH), SCRATCH, &maps);
    pause = SEARCH_SHARE * (otelctx_clock_read() - now_ns);
    pause_ns = pause < pause_max_ns ? pause : pause_max_ns;
    searched_ns = now_ns;
    /* A restored process may have its clock at another address, and the
     * context's mapping without its file. A child that a signal handler forks
     * during the search reads part of the text itself, so the parent's text
     * lacks that part. */
    otelctx_state_find_clock();
    if (ours && maps.is_whole && !maps.has_ours && !maps.other &&
        otelctx_state_handler_forks() == handler_forks)
        otelctx_context_renew_mapping();
    return maps.other;
}

/* True as well for a clock that is behind searched_ns: the difference wraps.
 * The process was restored then, or forked into another time namespace. */
OTELCTX_INLINE bool is_pause_over(void)
{
    return otelctx_state_now() - searched_ns >= pause_ns;
}

static bool may_search_maps(enum otelctx_rival_occasion occasion)
{
    switch (occasion) {
    case OTELCTX_RIVAL_AT_START:
        return !prctl_is_seen && !otelctx_filter_came();
    case OTELCTX_RIVAL_AT_WATCH:
        return !otelctx_filter_came();
    case OTELCTX_RIVAL_AT_CALL:
        return is_pause_over() && !otelctx_filter_came();
    default:
        return false;
    }
}

/* Return the mapping that the host has named since the last call, or NULL. */
static const void *take_named(void)
{
    const void *at;

    if (otelctx_load_acquire(&named_at) == 0)
        return NULL;
    at = (const void *)(uintptr_t)otelctx_exchange(&named_at, 0);
    return otelctx_publication_is_taken(at, false) ? at : NULL;
}

/* Return the rival whose context counts now, or NULL. */
static const void *find_rival(enum otelctx_rival_occasion occasion)
{
    const void *const yielded_to = otelctx_context_rival();
    const void *const at = take_named();

    if (at)
        return at;
    if (!yielded_to)
        return may_search_maps(occasion) ? search_maps() : NULL;
    /* A seccomp filter may kill the process for publishing again. */
    if (occasion == OTELCTX_RIVAL_AT_LEAVE || otelctx_filter_came() ||
        (occasion != OTELCTX_RIVAL_UNNAMED &&
         otelctx_publication_is_taken(yielded_to, true)))
        return yielded_to;
    return search_maps();
}

OTELCTX_RARE static void log_change(void)
{
    logged_that_yielded = otelctx_context_has_yielded();
    otelctx_log(OTELCTX_LOG_INFO,
                logged_that_yielded
                    ? "another publisher is in this process: its process "
                      "context counts, ours is withdrawn"
                    : "the other publisher's process context is gone: "
                      "ours is published again");
}

OTELCTX_RARE static void yield_or_return(enum otelctx_rival_occasion occasion)
{
    const void *at;

    otelctx_filter_start();
    at = yields ? find_rival(occasion) : NULL;
    if (at)
        otelctx_context_yield(at);
    else if (otelctx_context_has_yielded())
        otelctx_context_return();
}

void otelctx_rival_check(enum otelctx_rival_occasion occasion)
{
    const bool may_search = occasion == OTELCTX_RIVAL_AT_CALL
                                ? is_pause_over()
                                : occasion != OTELCTX_RIVAL_IF_GONE;

    /* Nearly every call ends here. */
    if (may_search || otelctx_load_acquire(&named_at) ||
        otelctx_context_has_yielded())
        yield_or_return(occasion);
}

void otelctx_rival_leave(void)
{
    if (otelctx_load_acquire(&named_at))
        yield_or_return(OTELCTX_RIVAL_AT_LEAVE);
    if (logged_that_yielded != otelctx_context_has_yielded())
        log_change();
}
