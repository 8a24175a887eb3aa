/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/preload.h"

#include <errno.h>

#include "config/attrs.h"
#include "shim/context.h"
#include "shim/diag.h"
#include "shim/host.h"
#include "shim/order.h"
#include "shim/settings.h"

/* What has become of this process; outlives a fork. */
enum {
    NOT_STARTED,
    ENABLED,
    DISABLED
};
static uint64_t status = NOT_STARTED;

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
    /* Decoding makes nothing longer. */
    const size_t size =
        text.size < OTELCTX_PAYLOAD_MAX ? text.size : OTELCTX_PAYLOAD_MAX;
    struct otelctx_attrs it =
        otelctx_attrs_begin(text, otelctx_context_scratch(size), size);
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

/* OTEL_SERVICE_NAME, if any. */
static int set_name(const struct otelctx_settings *s,
                    struct otelctx_payload *payload)
{
    return !s->options.service_name.at
               ? 0
               : otelctx_payload_set(payload, OTELCTX_RESOURCE,
                                     OTELCTX_SPAN("service.name"),
                                     s->options.service_name);
}

static void refuse(struct otelctx_settings *s, enum otelctx_option_id id,
                   int err)
{
    const struct otelctx_fault fault = {.pos = 1, .why = why_refused(err)};

    otelctx_settings_fault(s, id, &fault);
}

/* Stage the resource; the number of attributes that the user gave it. */
static int stage_resource(struct otelctx_settings *s)
{
    struct otelctx_payload *payload = otelctx_context_edit();
    int err = set_name(s, payload);
    int count;

    if (err) { /* too long, even alone */
        refuse(s, OTELCTX_OPTION_SERVICE_NAME, err);
        s->options.service_name.at = NULL;
    }
    count = take_attributes(s, payload, OTELCTX_RESOURCE,
                            OTELCTX_OPTION_RESOURCE_ATTRIBUTES);
    err = set_name(s, payload); /* again: it beats what the attributes say */
    if (!err)
        err = otelctx_context_stage();
    if (err) { /* they leave no room for the service.name */
        refuse(s, OTELCTX_OPTION_RESOURCE_ATTRIBUTES, err);
        otelctx_payload_clear(payload, OTELCTX_RESOURCE);
        (void)set_name(s, payload);
        (void)otelctx_context_stage();
        count = 0;
    }
    return count + (s->options.service_name.at ? 1 : 0);
}

static int stage_extra(const struct otelctx_settings *s)
{
    int count;

    if (!s->options.extra_attributes.at)
        return 0;
    count = take_attributes(s, otelctx_context_edit(), OTELCTX_EXTRA,
                            OTELCTX_OPTION_EXTRA_ATTRIBUTES);
    (void)otelctx_context_stage();
    return count;
}

static void tell_published(const struct otelctx_payload *payload)
{
    const char *beyond = otelctx_payload_beyond(payload);
    struct otelctx_line line;

    if (otelctx_line_begin(&line, OTELCTX_LOG_INFO)) {
        otelctx_line_text(&line, "published a process context of ");
        otelctx_line_number(&line, otelctx_payload_size(payload));
        otelctx_line_text(&line, " bytes");
        otelctx_line_send(&line);
    }
    if (beyond && otelctx_line_begin(&line, OTELCTX_LOG_INFO)) {
        otelctx_line_text(&line, "some readers will not take it: ");
        otelctx_line_text(&line, beyond);
        otelctx_line_send(&line);
    }
}

static void tell_failure(const char *failed, int err)
{
    struct otelctx_line line;

    if (!otelctx_line_begin(&line, OTELCTX_LOG_WARN))
        return;
    otelctx_line_text(&line, "cannot publish the process context: ");
    otelctx_line_text(&line, failed);
    otelctx_line_errno(&line, err);
    otelctx_line_send(&line);
}

/* Under the context's lock: only the first to come does anything. */
static void start_once(struct otelctx_settings *s)
{
    const char *failed;
    int count, err;

    if (otelctx_load_acquire(&status) != NOT_STARTED)
        return;
    count = stage_resource(s) + stage_extra(s);
    if (count > 0 || s->options.publish == OTELCTX_PUBLISH_ALWAYS) {
        err = otelctx_context_publish(&failed);
        if (err)
            tell_failure(failed, err);
        else
            tell_published(otelctx_context_staged());
    }
    otelctx_store_release(&status, ENABLED);
}

static int start(struct otelctx_settings *s)
{
    int err;

    if (s->options.publish == OTELCTX_PUBLISH_CONFIGURED &&
        !is_configured(&s->options))
        return 0;
    err = otelctx_context_enter();
    if (err) {
        if (err != -EBUSY) /* a signal handler: the constructor goes on */
            tell_failure("mmap", err);
        return err;
    }
    start_once(s);
    otelctx_context_leave();
    return 0;
}

int otelctx_start(void)
{
    static bool told; /* a later try repeats nothing */
    struct otelctx_settings settings;
    int err;

    if (otelctx_load_acquire(&status) != NOT_STARTED)
        return otelctx_load_acquire(&status) == ENABLED ? 0 : -ENOSYS;

    err = otelctx_settings_open(&settings, !told);
    told = true;
    if (!err)
        err = start(&settings);
    otelctx_settings_close(&settings);
    /* After any other failure the next call tries again. */
    if (err == 0 || err == -ENOSYS)
        otelctx_store_release(&status, err ? DISABLED : ENABLED);
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
