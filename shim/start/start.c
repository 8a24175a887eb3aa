/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/start.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>

#include "config/traceparent.h"
#include "shim/base/host.h"
#include "shim/base/log.h"
#include "shim/base/order.h"
#include "shim/process/context.h"
#include "shim/process/filter.h"
#include "shim/process/guard.h"
#include "shim/process/instance_id.h"
#include "shim/process/reader_limits.h"
#include "shim/process/rival.h"
#include "shim/process/state.h"
#include "shim/process/versions.h"
#include "shim/start/children.h"
#include "shim/start/configure.h"
#include "shim/start/copy.h"
#include "shim/start/fork.h"
#include "shim/start/prctl.h"
#include "shim/start/watch.h"
#include "shim/thread/slot.h"
#include "shim/thread/slot_layout.h"
#include "shim/thread/storage.h"

uint64_t otelctx_status = OTELCTX_NOT_STARTED;

static void log_published(void)
{
    const char *beyond =
        otelctx_reader_limits_exceeded(otelctx_versions_staged());

    otelctx_log(OTELCTX_LOG_INFO, "published a process context of %d bytes",
                otelctx_context_size());
    if (beyond)
        otelctx_log(OTELCTX_LOG_INFO, "some readers will not take it: %s",
                    beyond);
}

static void start_watch(const struct otelctx_settings *s)
{
    log_published();
    if (s->options.on_other_publisher == OTELCTX_ON_OTHER_YIELD)
        otelctx_watch_start(otelctx_state_now());
}

static void log_silent(void)
{
    otelctx_log(OTELCTX_LOG_DEBUG, "silent: nothing is configured");
}

/* Log what this process cannot do, and why. */
static void log_failure(const char *what, const struct otelctx_failure *failure)
{
    otelctx_log(OTELCTX_LOG_WARN, "%s: %s (errno %d)", what, failure->what,
                (size_t)-failure->err);
}

/* OTELCTX_INSTANCE_ID. Call once the attributes are staged. */
static void give_instance_id(const struct otelctx_settings *s)
{
    struct otelctx_failure failure;
    int err;

    if (s->options.instance_id == OTELCTX_INSTANCE_ID_OFF)
        return;
    if (otelctx_payload_has(otelctx_versions_staged(), OTELCTX_RESOURCE,
                            OTELCTX_SPAN(OTELCTX_INSTANCE_KEY)) &&
        otelctx_instance_id().size == 0) {
        otelctx_log(OTELCTX_LOG_INFO,
                    "the service.instance.id is configured: forked "
                    "children repeat it");
        return;
    }
    err = otelctx_fail(&failure, "getrandom", otelctx_instance_id_make());
    if (!err && s->options.instance_id == OTELCTX_INSTANCE_ID_EXPORT &&
        !otelctx_host_is_secure())
        err = otelctx_fail(
            &failure, "environment",
            otelctx_instance_id_export(s->options.resource_attributes,
                                       s->options.exported_id));
    if (err)
        log_failure("cannot give a service.instance.id", &failure);
}

/* Call under the context's lock. Only the first call does anything. */
static void start_once(struct otelctx_settings *s)
{
    static bool staged;
    int count, err;

    if (staged)
        return;
    count = otelctx_stage(s);
    give_instance_id(s);
    if (count > 0 || s->options.publish == OTELCTX_PUBLISH_ALWAYS) {
        err = otelctx_guard_publish_at_start();
        if (err == -ESTALE)
            ; /* another publisher: otelctx_rival_leave() logs it */
        else if (err)
            log_failure("cannot publish the process context",
                        otelctx_state_failure());
        else
            start_watch(s);
    } else {
        log_silent();
    }
    staged = true;
}

/* Only the first thread or signal handler that comes here does anything. */
static void register_handlers(const struct otelctx_options *options)
{
    static uint64_t registered;
    uint64_t no = 0;

    if (!otelctx_compare_exchange(&registered, &no, 1))
        return;
    /* Where the host calls another prctl(), e.g. after dlopen(3), the shim does
     * not see a seccomp filter come, and so could not cancel a look. */
    if (!otelctx_prctl_is_hosts())
        otelctx_watch_cancel();
    otelctx_guard_start(options->fork == OTELCTX_FORK_REPUBLISH);
    otelctx_rival_start(options->on_other_publisher == OTELCTX_ON_OTHER_YIELD,
                        otelctx_prctl_is_hosts() && otelctx_host_has_libc() &&
                            otelctx_host_is_beside_executable());
    otelctx_fork_start();
}

static int start(struct otelctx_settings *s)
{
    int err;

    register_handlers(&s->options);
    if (s->options.instance_id != OTELCTX_INSTANCE_ID_OFF)
        otelctx_instance_id_want();
    if (s->options.publish == OTELCTX_PUBLISH_CONFIGURED &&
        !otelctx_stage_has_any(s)) {
        log_silent();
        return 0;
    }
    err = otelctx_guard_enter();
    if (err) /* this is a signal handler; the constructor goes on */
        return err;
    start_once(s);
    otelctx_guard_leave();
    return 0;
}

/* OTELCTX_THREAD_STORAGE. Call before any thread attaches a context. */
static void start_storage(const struct otelctx_options *options)
{
    struct otelctx_failure failure;

    if (options->thread_storage > OTELCTX_STORAGE_TLS)
        otelctx_filter_start(); /* for children, see fork.c */
    if (otelctx_storage_start(options->thread_storage, options->ring_capacity,
                              otelctx_host_auxiliary(AT_PAGESZ), &failure))
        log_failure("cannot make a ring: using profiler instead", &failure);
}

static_assert(sizeof(struct otelctx_ids) == sizeof(struct otelctx_traceparent),
              "the same fields");

/* OTELCTX_TRACEPARENT: attach the context that threads start with. */
static void share_traceparent(const struct otelctx_settings *s)
{
    const struct otelctx_options *const options = &s->options;
    struct otelctx_traceparent parent;
    struct otelctx_ids ids;
    struct otelctx_failure failure;
    struct otelctx_fault fault;
    int err;

    if (options->traceparent_for == OTELCTX_TRACEPARENT_OFF ||
        !otelctx_host_has_libc())
        return;
    if (!options->traceparent.at) {
        otelctx_settings_fault(s, OTELCTX_OPTION_TRACEPARENT_FOR,
                               OTELCTX_COUNTS, 1,
                               "TRACEPARENT in the environment");
        return;
    }
    if (options->traceparent_for == OTELCTX_TRACEPARENT_ALL &&
        otelctx_storage_has_others())
        otelctx_settings_fault(
            s, OTELCTX_OPTION_TRACEPARENT_FOR, OTELCTX_COUNTS, 1,
            "storage tls only; others know only threads that call");
    if (otelctx_traceparent_parse(options->traceparent, &parent, &fault)) {
        otelctx_settings_fault(s, OTELCTX_OPTION_TRACEPARENT, OTELCTX_DISCARDED,
                               fault.pos, fault.why);
        return;
    }
    memcpy(&ids, &parent, sizeof(ids));
    err = otelctx_thread_share(
        &ids, options->traceparent_for == OTELCTX_TRACEPARENT_ALL,
        otelctx_host_auxiliary(AT_PAGESZ));
    if (!err)
        return;
    failure.err = err;
    failure.what = err == -EXDEV     ? "another module has otel_thread_ctx_v1"
                   : err == -ENOEXEC ? "the TLS image has other variables"
                                     : "mprotect";
    log_failure("cannot attach TRACEPARENT to all threads", &failure);
}

/* OTELCTX_CHILDREN */
static void leave_children(const struct otelctx_settings *s)
{
    struct otelctx_failure failure;

    if (s->options.children == OTELCTX_CHILDREN_LEAVE &&
        !otelctx_host_is_secure() &&
        otelctx_fail(&failure, "environment",
                     otelctx_children_leave(s->environment.strings)))
        log_failure("cannot leave the environment", &failure);
}

/* Only the first try logs, and shares the context. A later one comes from a
 * signal handler that interrupts the first, or after the first has failed. */
static int try_to_start(void)
{
    static uint64_t has_tried;
    const bool is_first = otelctx_exchange(&has_tried, 1) == 0;
    struct otelctx_settings settings;
    int err = otelctx_settings_open(&settings, is_first);

    if (!err && is_first) {
        start_storage(&settings.options);
        share_traceparent(&settings);
    }
    if (!err)
        err = start(&settings);
    if (!err && is_first)
        leave_children(&settings);
    otelctx_settings_close(&settings);
    return err;
}

static void end_watch(void)
{
    otelctx_storage_cache_tls_offsets();
    otelctx_store_release(&otelctx_status, OTELCTX_ENABLED);
}

/* Not called in a signal handler that interrupts try_to_start(): the
 * interrupted thread ends the start. */
static void end_start(int err)
{
    otelctx_log_end_start();
    /* After any other failure the next call tries again. */
    if (err == -ENOSYS)
        otelctx_store_release(&otelctx_status, OTELCTX_DISABLED);
    else if (err == 0 && otelctx_watch_is_on())
        otelctx_store_release(&otelctx_status, OTELCTX_WATCHING);
    else if (err == 0)
        end_watch();
}

static int start_now(void)
{
    const bool has_lock = otelctx_lock(&otelctx_start_lock) == 0;
    const uint64_t status = otelctx_load_acquire(&otelctx_status);
    int err =
        status == OTELCTX_ENABLED || status == OTELCTX_WATCHING ? 0 : -ENOSYS;

    if (status == OTELCTX_NOT_STARTED) {
        if (otelctx_copy_is_bound())
            err = try_to_start();
        if (has_lock || !otelctx_lock_is_mine(&otelctx_start_lock))
            end_start(err);
    }
    if (has_lock)
        otelctx_unlock(&otelctx_start_lock);
    return err;
}

int otelctx_start_first(void)
{
    const uint64_t status = otelctx_load_acquire(&otelctx_status);

    if (status == OTELCTX_ENABLED)
        otelctx_watch_return();
    else if (status != OTELCTX_WATCHING)
        return start_now();
    else if (otelctx_watch_is_over())
        end_watch();
    return 0;
}

/* The host must not notice the shim: ignore failures here. */
__attribute__((constructor)) static void preload(void)
{
    otelctx_thread_resolve_slot();
    otelctx_prctl_start();
    (void)otelctx_start();
}
