/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/preload.h"

#include <errno.h>

#include "config/attrs.h"
#include "config/glob.h"
#include "shim/context.h"
#include "shim/diag.h"
#include "shim/host.h"
#include "shim/order.h"
#include "shim/settings.h"
#include "shim/sys.h"

/* What has become of this process; outlives a fork. */
enum {
    NOT_STARTED,
    ENABLED,
    DISABLED
};
static uint64_t status = NOT_STARTED;

static void tell(enum otelctx_log_level level, const char *what,
                 const char *which, int err)
{
    struct otelctx_line line;

    if (!otelctx_line_begin(&line, level))
        return;
    otelctx_line_text(&line, what);
    otelctx_line_text(&line, which);
    if (err)
        otelctx_line_errno(&line, err);
    otelctx_line_send(&line);
}

/* OTELCTX_INCLUDE_PATHS and OTELCTX_EXCLUDE_PATHS. */
static bool is_excluded(const struct otelctx_options *options)
{
    char path[4096];
    struct otelctx_span executable = {path, 0};
    long size;

    if (!options->include_paths.at && !options->exclude_paths.at)
        return false;
    size = otelctx_sys_executable(path, sizeof(path));
    if (size > 0)
        executable.size = (size_t)size;
    return (options->include_paths.at &&
            !otelctx_glob_any(options->include_paths, executable)) ||
           otelctx_glob_any(options->exclude_paths, executable);
}

static bool is_configured(const struct otelctx_options *options)
{
    return options->service_name.at || options->resource_attributes.at ||
           options->extra_attributes.at;
}

static const char *why_refused(int err)
{
    return err == -EPERM ? "expected a key that does not begin with "
                           "\"threadlocal.\""
                         : "expected a payload of at most 65536 bytes";
}

/* Set one attribute after another; the number of them, or -errno. */
static int set_all(struct otelctx_payload *payload, enum otelctx_place place,
                   struct otelctx_span text, struct otelctx_fault *fault)
{
    struct otelctx_attrs it = otelctx_attrs_begin(
        text, otelctx_context_scratch(), OTELCTX_PAYLOAD_MAX);
    struct otelctx_pair pair;
    int count = 0, got;

    while ((got = otelctx_attrs_next(&it, &pair, fault)) > 0) {
        got = otelctx_payload_set(payload, place, pair.key, pair.value);
        if (got) {
            fault->pos = pair.pos;
            fault->why = why_refused(got);
            return got;
        }
        count++;
    }
    return got < 0 ? got : count;
}

/* One variable of attributes: all of it, or after a fault none of it. */
static int take_attributes(const struct otelctx_settings *s,
                           struct otelctx_payload *payload,
                           enum otelctx_place place, enum otelctx_option_id id)
{
    struct otelctx_fault fault;
    const int count = set_all(payload, place, s->source[id].text, &fault);

    if (count >= 0)
        return count;
    otelctx_payload_clear(payload, place);
    otelctx_settings_fault(s, id, &fault);
    return 0;
}

static int take_service_name(const struct otelctx_settings *s,
                             struct otelctx_payload *payload)
{
    const struct otelctx_span key = OTELCTX_SPAN("service.name");
    int err;

    if (s->options.service_name.at) {
        err = otelctx_payload_set(payload, OTELCTX_RESOURCE, key,
                                  s->options.service_name);
        if (!err)
            return 1;
        otelctx_settings_fault(s, OTELCTX_OPTION_SERVICE_NAME,
                               &(struct otelctx_fault){1, why_refused(err)});
    }
    if (!otelctx_payload_has(payload, OTELCTX_RESOURCE, key))
        (void)otelctx_context_default_name(payload);
    return 0;
}

/* Stage what the user wrote; the number of attributes. */
static int stage(const struct otelctx_settings *s)
{
    struct otelctx_payload *payload = otelctx_context_edit();
    int count;

    count = take_attributes(s, payload, OTELCTX_RESOURCE,
                            OTELCTX_OPTION_RESOURCE_ATTRIBUTES);
    count += take_service_name(s, payload);
    count += take_attributes(s, payload, OTELCTX_EXTRA,
                             OTELCTX_OPTION_EXTRA_ATTRIBUTES);
    otelctx_context_stage();
    return count;
}

static void publish(void)
{
    const struct otelctx_payload *payload = otelctx_context_staged();
    const char *beyond = otelctx_payload_beyond(payload);
    const char *failed;
    const int err = otelctx_context_publish(&failed);
    struct otelctx_line line;

    if (err) {
        tell(OTELCTX_LOG_WARN, "cannot publish the process context: ", failed,
             err);
        return;
    }
    if (otelctx_line_begin(&line, OTELCTX_LOG_INFO)) {
        otelctx_line_text(&line, "published a process context of ");
        otelctx_line_number(&line, otelctx_payload_size(payload));
        otelctx_line_text(&line, " bytes");
        otelctx_line_send(&line);
    }
    if (beyond)
        tell(OTELCTX_LOG_INFO, "some readers will not take it: ", beyond, 0);
}

/* Under the context's lock: only the first to come does anything. */
static void start_once(const struct otelctx_settings *s)
{
    const bool always = s->options.publish == OTELCTX_PUBLISH_ALWAYS;

    if (otelctx_load_acquire(&status) != NOT_STARTED)
        return;
    if (stage(s) > 0 || always)
        publish();
    else
        tell(OTELCTX_LOG_INFO, "silent: ", "no attribute is configured", 0);
    otelctx_store_release(&status, ENABLED);
}

static int start(struct otelctx_settings *s)
{
    int err;

    if (is_excluded(&s->options)) {
        tell(OTELCTX_LOG_INFO, "excluded: ", "by the executable's path", 0);
        return -ENOSYS;
    }
    if (s->options.publish == OTELCTX_PUBLISH_CONFIGURED &&
        !is_configured(&s->options)) {
        tell(OTELCTX_LOG_INFO, "silent: ", "nothing is configured", 0);
        otelctx_store_release(&status, ENABLED);
        return 0;
    }
    err = otelctx_context_enter();
    if (err) {
        tell(OTELCTX_LOG_WARN, "cannot publish the process context: ", "mmap",
             err);
        otelctx_store_release(&status, ENABLED);
        return 0;
    }
    start_once(s);
    otelctx_context_leave();
    return 0;
}

int otelctx_start(void)
{
    struct otelctx_settings settings;
    int err;

    switch (otelctx_load_acquire(&status)) {
    case ENABLED:
        return 0;
    case DISABLED:
        return -ENOSYS;
    default:
        break;
    }
    err = otelctx_settings_open(&settings);
    if (!err)
        err = start(&settings);
    otelctx_settings_close(&settings);
    if (err)
        otelctx_store_release(&status, DISABLED);
    return err;
}

/* The host must not notice us: errno is put back, a failure is only noted. */
__attribute__((constructor)) static void preload(void)
{
    int *const errno_at = otelctx_host_errno();
    const int saved = *errno_at;

    (void)otelctx_start();
    *errno_at = saved;
}
