/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/rival.h"

#include "shim/base/clock.h"
#include "shim/base/log.h"
#include "shim/base/order.h"
#include "shim/process/context.h"
#include "shim/process/filter.h"
#include "shim/process/own_maps.h"
#include "shim/process/state.h"

static bool yields, keeps, prctl_is_seen; /* neither: not known yet */

/* Where the host has named a mapping of its own; 0: nowhere. */
static uint64_t noted;
static bool told_that_yielded;

/* To look into the maps takes up to 1/LOOK_SHARE of the time; more, when it
 * takes long, for the next look does not wait longer than pause_max_ns. */
enum {
    LOOK_SHARE = 1000,
    SCRATCH = 2048
};
static const uint64_t pause_max_ns = 10 * (uint64_t)1000000000;
/* The last look, and for how long none is due. */
static uint64_t looked_ns, pause_ns;

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
    otelctx_store_release(&noted, (uintptr_t)at);
    return true;
}

OTELCTX_RARE static const void *look(void)
{
    const void *const ours = otelctx_state_publication()->mapping.at;
    const uint64_t handler_forks = otelctx_state_handler_forks();
    const uint64_t now_ns = otelctx_clock_read();
    struct otelctx_own_maps maps;
    uint64_t pause;

    otelctx_own_maps_look(ours, otelctx_state_scratch(SCRATCH), SCRATCH, &maps);
    pause = LOOK_SHARE * (otelctx_clock_read() - now_ns);
    pause_ns = pause < pause_max_ns ? pause : pause_max_ns;
    looked_ns = now_ns;
    otelctx_state_find_clock(); /* restored, it may be elsewhere */
    /* And our mapping without its file. But a child that a signal handler
     * forked in the middle has read part of the text in our place. */
    if (ours && maps.is_whole && !maps.has_ours && !maps.other &&
        otelctx_state_handler_forks() == handler_forks)
        otelctx_context_renew_mapping();
    return maps.other;
}

/* Also when the clock is behind the last look: a process that was restored, or
 * forked into another time namespace. */
OTELCTX_INLINE bool is_pause_over(void)
{
    return otelctx_state_now() - looked_ns >= pause_ns;
}

static bool is_time_to_look(enum otelctx_rival_occasion occasion)
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

/* Whom prctl has seen since this was asked last. */
static const void *take_noted(void)
{
    const void *at;

    if (otelctx_load_acquire(&noted) == 0)
        return NULL;
    at = (const void *)(uintptr_t)otelctx_exchange(&noted, 0);
    return otelctx_publication_is_taken(at, false) ? at : NULL;
}

/* The one that counts now, or NULL. */
static const void *find(enum otelctx_rival_occasion occasion)
{
    const void *const yielded_to = otelctx_context_rival();
    const void *const at = take_noted();

    if (at)
        return at;
    if (!yielded_to)
        return is_time_to_look(occasion) ? look() : NULL;
    /* To come back takes system calls that a filter may kill for. */
    if (occasion == OTELCTX_RIVAL_AT_LEAVE || otelctx_filter_came() ||
        (occasion != OTELCTX_RIVAL_UNNAMED &&
         otelctx_publication_is_taken(yielded_to, true)))
        return yielded_to;
    return look();
}

OTELCTX_RARE static void tell(void)
{
    told_that_yielded = otelctx_context_has_yielded();
    otelctx_log(OTELCTX_LOG_INFO,
                told_that_yielded
                    ? "another publisher is in this process: its process "
                      "context counts, ours is withdrawn"
                    : "the other publisher's process context is gone: "
                      "ours is published again");
}

OTELCTX_RARE static void check(enum otelctx_rival_occasion occasion)
{
    const void *at;

    otelctx_filter_start();
    at = yields ? find(occasion) : NULL;
    if (at)
        otelctx_context_yield(at);
    else if (otelctx_context_has_yielded())
        otelctx_context_return();
}

void otelctx_rival_check(enum otelctx_rival_occasion occasion)
{
    const bool may_look = occasion == OTELCTX_RIVAL_AT_CALL
                              ? is_pause_over()
                              : occasion != OTELCTX_RIVAL_IF_GONE;

    /* What is nearly always so, at nearly each call. */
    if (may_look || otelctx_load_acquire(&noted) ||
        otelctx_context_has_yielded())
        check(occasion);
}

void otelctx_rival_leave(void)
{
    if (otelctx_load_acquire(&noted))
        check(OTELCTX_RIVAL_AT_LEAVE);
    if (told_that_yielded != otelctx_context_has_yielded())
        tell();
}
