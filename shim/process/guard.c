/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/guard.h"

#include "shim/process/context.h"
#include "shim/process/filter.h"
#include "shim/process/identity.h"
#include "shim/process/instance_id.h"
#include "shim/process/rival.h"
#include "shim/process/state.h"

static bool republishes;

void otelctx_guard_start(bool republishes_)
{
    republishes = republishes_;
}

enum otelctx_child otelctx_guard_child_does(void)
{
    if (!republishes)
        return OTELCTX_CHILD_DROPS;
    return otelctx_context_is_shown() && otelctx_filter_came()
               ? OTELCTX_CHILD_MUST_BE_QUIET
               : OTELCTX_CHILD_PUBLISHES;
}

/* Make a new instance id only when a reader or a program can see it, because
 * making one takes a system call. */
static void hide_or_renew_id(enum otelctx_child what, bool id_is_seen)
{
    if (what != OTELCTX_CHILD_PUBLISHES)
        otelctx_context_hide();
    if (what != OTELCTX_CHILD_MUST_BE_QUIET &&
        (id_is_seen || otelctx_instance_id_is_exported()) &&
        !otelctx_state_has_own_id())
        otelctx_identity_renew();
}

void otelctx_guard_child_begin(enum otelctx_child what)
{
    otelctx_state_notice_child();
    hide_or_renew_id(what, what == OTELCTX_CHILD_PUBLISHES &&
                               otelctx_context_is_shown());
}

void otelctx_guard_child_resume(enum otelctx_child what)
{
    otelctx_state_set_resumed(true);
    otelctx_state_set_own_id(false);
    hide_or_renew_id(what, what == OTELCTX_CHILD_PUBLISHES);
    if (what == OTELCTX_CHILD_PUBLISHES)
        otelctx_publication_finish(otelctx_state_publication());
    else
        otelctx_publication_hide(otelctx_state_publication());
}

void otelctx_guard_child_end_resumed(void)
{
    if (!otelctx_context_is_shown()) {
        otelctx_publication_drop(otelctx_state_publication());
    } else {
        /* The continued call publishes, though OTELCTX_FORK says drop. */
        if (!otelctx_state_has_own_id())
            otelctx_identity_renew();
        otelctx_context_update();
    }
    otelctx_state_set_resumed(false);
}

OTELCTX_RARE static void begin_child(void)
{
    otelctx_guard_child_begin(otelctx_guard_child_does());
    if (otelctx_context_is_shown())
        otelctx_rival_check(OTELCTX_RIVAL_IF_GONE);
    otelctx_context_catch_up();
}

static int begin_if_child(int err)
{
    if (!err && otelctx_state_is_new_child())
        begin_child();
    return err;
}

int otelctx_guard_enter(void)
{
    return begin_if_child(otelctx_state_lock());
}

int otelctx_guard_try_enter(void)
{
    return begin_if_child(otelctx_state_try_lock());
}

int otelctx_guard_enter_to_fork(void)
{
    const int err = otelctx_guard_enter();

    if (!err && republishes)
        otelctx_rival_check(OTELCTX_RIVAL_IF_GONE);
    return err;
}

void otelctx_guard_return(void)
{
    if (!otelctx_context_has_yielded() || otelctx_guard_try_enter() != 0)
        return;
    otelctx_rival_check(OTELCTX_RIVAL_IF_GONE);
    otelctx_guard_leave();
}

/* The rival to which the parent yielded may be missing in this child. */
OTELCTX_RARE static void end_resumed(void)
{
    otelctx_guard_child_end_resumed();
    if (otelctx_context_is_shown())
        otelctx_rival_check(OTELCTX_RIVAL_IF_GONE);
}

void otelctx_guard_leave(void)
{
    if (otelctx_state_is_resumed())
        end_resumed();
    otelctx_rival_leave();
    otelctx_state_unlock();
}

/* Everything that this calls is inlined into it: otelctx_sys_name() says why
 * its system call is made near the exported function. */
int otelctx_guard_publish_and_leave(void)
{
    int err;

    otelctx_rival_check(OTELCTX_RIVAL_AT_CALL);
    err = otelctx_context_publish();
    otelctx_guard_leave();
    return err;
}

OTELCTX_RARE int otelctx_guard_publish_at_start(void)
{
    otelctx_rival_check(OTELCTX_RIVAL_AT_START);
    return otelctx_context_publish();
}

void otelctx_guard_notice_fork(void)
{
    if (otelctx_state_is_used() && otelctx_state_is_new_child() &&
        otelctx_guard_enter() == 0)
        otelctx_guard_leave();
}
