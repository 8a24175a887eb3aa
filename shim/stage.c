/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/stage.h"

#include <errno.h>

#include "config/attrs.h"
#include "shim/context.h"
#include "shim/host.h"
#include "shim/instance.h"
#include "shim/keys.h"

static const char *why_refused(int err)
{
    return err == -EPERM ? "expected a key that does not begin with "
                           "\"threadlocal.\""
                         : "expected a payload of at most 65536 bytes";
}

/* An id that the shim of another process, which started this one, has put
 * there. */
static bool is_inherited(const struct otelctx_pair *pair,
                         struct otelctx_span exported_id)
{
    return exported_id.at &&
           otelctx_span_equal(pair->key, OTELCTX_SPAN(OTELCTX_INSTANCE_KEY)) &&
           otelctx_span_equal(pair->value, exported_id);
}

/* Set one attribute after another; the number of them, or -errno. */
static int set_all(struct otelctx_payload *payload, enum otelctx_place place,
                   struct otelctx_span text, struct otelctx_span exported_id,
                   struct otelctx_fault *fault)
{
    /* Decoding makes nothing longer. */
    const size_t size =
        text.size < OTELCTX_PAYLOAD_MAX ? text.size : OTELCTX_PAYLOAD_MAX;
    struct otelctx_attrs it =
        otelctx_attrs_begin(text, otelctx_context_scratch(size), size);
    struct otelctx_pair pair;
    int count = 0, got;

    while ((got = otelctx_attrs_next(&it, &pair, fault)) > 0) {
        if (is_inherited(&pair, exported_id))
            continue;
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
    const int count = set_all(payload, place, s->source[id].text,
                              s->options.exported_id, &fault);

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

/* The key at `name`, or where it is the key that is refused. */
static int take_key(struct otelctx_span text, struct otelctx_span name,
                    struct otelctx_fault *fault)
{
    const int index = otelctx_context_key(name);

    fault->pos = (size_t)(name.at - text.at) + 1;
    if (index == -EOPNOTSUPP)
        fault->why = "expected no keys with this OTELCTX_SCHEMA_VERSION";
    else
        fault->why = "expected at most 256 keys, and 65536 bytes with "
                     "everything else";
    return index;
}

/* After the attributes, so that it is the keys that find no room. */
static void stage_keys(const struct otelctx_settings *s)
{
    const struct otelctx_span text = s->options.attribute_keys;
    struct otelctx_span rest = text;
    struct otelctx_fault fault;

    while (rest.size > 0) {
        const struct otelctx_span name =
            otelctx_span_trim(otelctx_span_cut(&rest, ','));

        if (name.size == 0 || take_key(text, name, &fault) >= 0)
            continue;
        otelctx_context_forget_keys();
        otelctx_settings_fault(s, OTELCTX_OPTION_ATTRIBUTE_KEYS, &fault);
        return;
    }
}

static void stage_schema(const struct otelctx_settings *s)
{
    static const struct otelctx_fault too_long = {
        .pos = OTELCTX_SCHEMA_MAX + 1, .why = "expected at most 127 bytes"};

    if (!otelctx_host_has_libc())
        otelctx_context_hide_threads(); /* unless the user knows better */
    if (s->source[OTELCTX_OPTION_SCHEMA_VERSION].text.at &&
        otelctx_context_set_schema(s->options.schema_version))
        otelctx_settings_fault(s, OTELCTX_OPTION_SCHEMA_VERSION, &too_long);
}

bool otelctx_stage_has_any(const struct otelctx_settings *s)
{
    return s->options.service_name.at || s->options.resource_attributes.at ||
           s->options.extra_attributes.at || s->options.attribute_keys.at ||
           s->source[OTELCTX_OPTION_SCHEMA_VERSION].text.at;
}

int otelctx_stage(struct otelctx_settings *s)
{
    int count;

    stage_schema(s);
    count = stage_resource(s);
    count += stage_extra(s);
    stage_keys(s);
    return count;
}
