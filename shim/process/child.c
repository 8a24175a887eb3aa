/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/child.h"

#include "shim/process/context.h"
#include "shim/process/identity.h"
#include "shim/process/instance_id.h"
#include "shim/process/state.h"

/* Make a new instance id only when a reader or a program can see it, because
 * making one takes a system call. */
static void begin(enum otelctx_child what, bool id_is_seen)
{
    if (what != OTELCTX_CHILD_PUBLISHES)
        otelctx_context_hide();
    if (what != OTELCTX_CHILD_MUST_BE_QUIET &&
        (id_is_seen || otelctx_instance_id_is_exported()) &&
        !otelctx_state_has_own_id())
        otelctx_identity_renew();
}

void otelctx_child_begin(enum otelctx_child what)
{
    otelctx_state_notice_child();
    begin(what, what == OTELCTX_CHILD_PUBLISHES && otelctx_context_is_shown());
}

void otelctx_child_resume(enum otelctx_child what)
{
    otelctx_state_set_resumed(true);
    otelctx_state_set_own_id(false);
    begin(what, what == OTELCTX_CHILD_PUBLISHES);
    if (what == OTELCTX_CHILD_PUBLISHES)
        otelctx_publication_finish(otelctx_state_publication());
    else
        otelctx_publication_hide(otelctx_state_publication());
}

void otelctx_child_end_resumed(void)
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
