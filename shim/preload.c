/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/preload.h"

#include <elf.h>
#include <errno.h>

#include "config/traceparent.h"
#include "shim/context.h"
#include "shim/diag.h"
#include "shim/host.h"
#include "shim/instance.h"
#include "shim/lifecycle.h"
#include "shim/order.h"
#include "shim/prctl.h"
#include "shim/stage.h"
#include "shim/thread.h"

uint64_t otelctx_status = OTELCTX_NOT_STARTED;

static void tell_published(void)
{
    const char *beyond = otelctx_payload_beyond(otelctx_context_staged());
    struct otelctx_line line;

    if (otelctx_line_begin(&line, OTELCTX_LOG_INFO)) {
        otelctx_line_text(&line, "published a process context of ");
        otelctx_line_number(&line, otelctx_context_size());
        otelctx_line_text(&line, " bytes");
        otelctx_line_send(&line);
    }
    if (beyond && otelctx_line_begin(&line, OTELCTX_LOG_INFO)) {
        otelctx_line_text(&line, "some readers will not take it: ");
        otelctx_line_text(&line, beyond);
        otelctx_line_send(&line);
    }
}

/* What this process cannot do, and why: the system call at fault. */
static void tell_failure(const char *what, const char *failed, int err)
{
    struct otelctx_line line;

    if (!otelctx_line_begin(&line, OTELCTX_LOG_WARN))
        return;
    otelctx_line_text(&line, what);
    otelctx_line_text(&line, ": ");
    otelctx_line_text(&line, failed);
    otelctx_line_errno(&line, err);
    otelctx_line_send(&line);
}

/* OTELCTX_INSTANCE_ID, once the attributes are known. */
static void give_instance_id(const struct otelctx_settings *s)
{
    const char *failed = "getrandom";
    int err;

    if (s->options.instance_id == OTELCTX_INSTANCE_ID_OFF)
        return;
    if (otelctx_payload_has(otelctx_context_staged(), OTELCTX_RESOURCE,
                            OTELCTX_SPAN(OTELCTX_INSTANCE_KEY)) &&
        otelctx_instance_id().size == 0) {
        otelctx_line_tell(OTELCTX_LOG_INFO,
                          "the service.instance.id is configured: forked "
                          "children repeat it");
        return;
    }
    err = otelctx_instance_make();
    if (!err && s->options.instance_id == OTELCTX_INSTANCE_ID_EXPORT &&
        !otelctx_host_is_secure()) {
        failed = "environment";
        err = otelctx_instance_export(s->options.resource_attributes,
                                      s->options.exported_id);
    }
    if (err)
        tell_failure("cannot give a service.instance.id", failed, err);
}

/* Under the context's lock: only the first to come does anything. */
static void start_once(struct otelctx_settings *s)
{
    int count, err;

    if (otelctx_load_acquire(&otelctx_status) != OTELCTX_NOT_STARTED)
        return;
    count = otelctx_stage(s);
    give_instance_id(s);
    if (count > 0 || s->options.publish == OTELCTX_PUBLISH_ALWAYS) {
        err = otelctx_lifecycle_publish(true);
        if (err == -ESTALE)
            ; /* told when we leave */
        else if (err)
            tell_failure("cannot publish the process context",
                         otelctx_context_failed(), err);
        else
            tell_published();
    }
    otelctx_store_release(&otelctx_status, OTELCTX_ENABLED);
}

static int start(struct otelctx_settings *s)
{
    int err;

    otelctx_lifecycle_start(&s->options);
    if (s->options.instance_id != OTELCTX_INSTANCE_ID_OFF)
        otelctx_instance_want();
    if (s->options.publish == OTELCTX_PUBLISH_CONFIGURED &&
        !otelctx_stage_has_any(s))
        return 0;
    err = otelctx_lifecycle_enter();
    if (err) /* a signal handler: the constructor goes on */
        return err;
    start_once(s);
    otelctx_lifecycle_leave();
    return 0;
}

/* OTELCTX_TRACEPARENT: the context that threads start with. */
static void share_traceparent(const struct otelctx_settings *s)
{
    const struct otelctx_options *const options = &s->options;
    struct otelctx_traceparent parent;
    struct otelctx_ids ids = {.trace_flags = 0};
    struct otelctx_fault fault;
    int err;

    if (options->traceparent_for == OTELCTX_TRACEPARENT_OFF ||
        !options->traceparent.at || !otelctx_host_has_libc())
        return;
    if (otelctx_traceparent_parse(options->traceparent, &parent, &fault)) {
        otelctx_settings_fault(s, OTELCTX_OPTION_TRACEPARENT, &fault);
        return;
    }
    memcpy(ids.trace_id, parent.trace_id, sizeof(ids.trace_id));
    memcpy(ids.span_id, parent.span_id, sizeof(ids.span_id));
    ids.trace_flags = parent.flags;
    err = otelctx_thread_share(
        &ids, options->traceparent_for == OTELCTX_TRACEPARENT_ALL,
        otelctx_host_auxiliary(AT_PAGESZ));
    if (err)
        tell_failure("cannot attach TRACEPARENT to all threads",
                     err == -EXDEV     ? "another module has otel_thread_ctx_v1"
                     : err == -ENOEXEC ? "the TLS image has other variables"
                                       : "mprotect",
                     err);
}

int otelctx_start_first(void)
{
    static bool tried; /* a later try repeats nothing */
    const bool is_first = !tried;
    struct otelctx_settings settings;
    int err;

    if (!otelctx_api_is_hosts())
        otelctx_store_release(&otelctx_status, OTELCTX_DISABLED);
    if (otelctx_load_acquire(&otelctx_status) == OTELCTX_DISABLED)
        return -ENOSYS;

    tried = true;
    err = otelctx_settings_open(&settings, is_first);
    if (!err && is_first)
        share_traceparent(&settings);
    if (!err)
        err = start(&settings);
    otelctx_settings_close(&settings);
    /* After any other failure the next call tries again. */
    if (err == 0 || err == -ENOSYS)
        otelctx_store_release(&otelctx_status,
                              err ? OTELCTX_DISABLED : OTELCTX_ENABLED);
    if (err == 0)
        otelctx_thread_find();
    otelctx_diag_end_start();
    return err;
}

/* The host must not notice us: a failure is only noted. */
__attribute__((constructor)) static void preload(void)
{
    otelctx_thread_touch();
    otelctx_prctl_start();
    (void)otelctx_start();
}
