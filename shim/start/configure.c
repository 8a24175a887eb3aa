/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/configure.h"

#include <errno.h>

#include "config/attrs.h"
#include "config/check.h"
#include "config/glob.h"
#include "config/limits.h"
#include "shim/base/host.h"
#include "shim/process/context.h"
#include "shim/process/entity_ref.h"
#include "shim/process/instance_id.h"
#include "shim/process/key_map.h"
#include "shim/process/state.h"
#include "shim/process/versions.h"

enum {
    NAME_ROOM = 512 /* bytes: a service.name that is not configured */
};

static const char *why_refused(int err)
{
    return err == -EPERM ? "a key that does not begin with "
                           "\"threadlocal.\""
                         : "a payload of at most 65536 bytes";
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

/* An SDK takes an empty service.name of the list for none. */
static bool is_no_name(const struct otelctx_pair *pair,
                       enum otelctx_place place)
{
    return pair->value.size == 0 && place == OTELCTX_RESOURCE &&
           otelctx_span_equal(pair->key, OTELCTX_SPAN("service.name"));
}

/* Set one attribute after another; the number of them, or -errno. */
static int set_attributes(struct otelctx_payload *payload,
                          enum otelctx_place place, struct otelctx_span text,
                          struct otelctx_span exported_id,
                          struct otelctx_fault *fault)
{
    /* Decoding makes nothing longer. */
    const size_t size =
        text.size < OTELCTX_PAYLOAD_MAX ? text.size : OTELCTX_PAYLOAD_MAX;
    struct otelctx_attrs it =
        otelctx_attrs_begin(text, otelctx_state_scratch(size), size);
    struct otelctx_pair pair;
    int count = 0, got;

    while ((got = otelctx_attrs_next(&it, &pair, fault)) > 0) {
        if (is_inherited(&pair, exported_id))
            continue;
        if (is_no_name(&pair, place)) { /* that of an entity stays */
            (void)otelctx_payload_set(payload, place, pair.key,
                                      (struct otelctx_span){0});
            continue;
        }
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
    const int count = set_attributes(payload, place, s->source[id].text,
                                     s->options.exported_id, &fault);

    if (count >= 0)
        return count;
    (void)otelctx_versions_edit(); /* as it was before */
    otelctx_settings_fault(s, id, OTELCTX_DISCARDED, fault.pos, fault.why);
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

static void discard(struct otelctx_settings *s, enum otelctx_option_id id,
                    int err)
{
    otelctx_settings_fault(s, id, OTELCTX_DISCARDED, 1, why_refused(err));
}

/* A schema URL that is none does not count. */
static void check_url(struct otelctx_entity *entity, const char *text,
                      struct otelctx_mistake *mistakes)
{
    struct otelctx_span *const url = &entity->schema_url;

    if (!url->at || otelctx_entities_is_uri(*url))
        return;
    url->size = 0;
    otelctx_settings_collect(mistakes, OTELCTX_COUNTS,
                             (size_t)(url->at - text) + 1, "a URI");
}

/* Stage one entity, or none of it. Returns whether it counts. */
static bool stage_entity(const struct otelctx_settings *s,
                         struct otelctx_entity *entity, const char *text,
                         struct otelctx_mistake *mistakes)
{
    struct otelctx_payload *const payload = otelctx_versions_edit();
    struct otelctx_fault fault;
    int result;

    check_url(entity, text, mistakes);
    /* For the service.name, which every process has. */
    payload->reserved += NAME_ROOM + (uint32_t)s->options.service_name.size;
    result = otelctx_entity_ref_add(payload, entity, text, &fault);
    if (result >= 0)
        otelctx_versions_stage();
    if (result)
        otelctx_settings_collect(
            mistakes,
            result == 1 || result == -EEXIST ? OTELCTX_COUNTS
                                             : OTELCTX_DISCARDED,
            fault.pos, fault.why ? fault.why : why_refused(result));
    return result >= 0;
}

/* Before the attributes, which win. Returns the number of entities. A
 * well-formed one costs a copy of all after it: so their number is limited. */
static int stage_entities(const struct otelctx_settings *s)
{
    struct otelctx_mistake mistakes = {.weight = OTELCTX_COUNTS};
    struct otelctx_span rest = s->options.entities;
    struct otelctx_entity entity;
    struct otelctx_fault fault;
    int count = 0, tried = 0, got;

    while ((got = otelctx_entities_take(&rest, &entity, &fault)) != 0) {
        if (got < 0) {
            otelctx_settings_collect(&mistakes, OTELCTX_DISCARDED, fault.pos,
                                     fault.why);
        } else if (tried++ < OTELCTX_ENTITIES_MAX) {
            count += stage_entity(s, &entity, rest.at, &mistakes);
        } else {
            otelctx_settings_collect(&mistakes, OTELCTX_DISCARDED,
                                     (size_t)(entity.type.at - rest.at) + 1,
                                     OTELCTX_ENTITIES_EXPECTS);
            break;
        }
    }
    otelctx_settings_report(s, OTELCTX_OPTION_ENTITIES, &mistakes);
    return count;
}

/* Stage the resource; the number of attributes that the user gave it. */
static int stage_resource(struct otelctx_settings *s)
{
    struct otelctx_payload *payload = otelctx_versions_edit();
    int err = set_name(s, payload);
    int count;

    if (err) { /* too long, even alone */
        discard(s, OTELCTX_OPTION_SERVICE_NAME, err);
        s->options.service_name.at = NULL;
    }
    count = take_attributes(s, payload, OTELCTX_RESOURCE,
                            OTELCTX_OPTION_RESOURCE_ATTRIBUTES);
    err = set_name(s, payload); /* again: it beats what the attributes say */
    if (!err)
        err = otelctx_context_stage();
    if (err) { /* they leave no room for the service.name */
        discard(s, OTELCTX_OPTION_RESOURCE_ATTRIBUTES, err);
        (void)otelctx_versions_edit();
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
    count = take_attributes(s, otelctx_versions_edit(), OTELCTX_EXTRA,
                            OTELCTX_OPTION_EXTRA_ATTRIBUTES);
    (void)otelctx_context_stage();
    return count;
}

/* Thread contexts are announced for readers of TLS only. */
static bool has_tls(const struct otelctx_settings *s)
{
    return s->options.thread_storage & OTELCTX_STORAGE_TLS;
}

/* The key at `name`, or where it is the key that is refused. */
static int take_key(const struct otelctx_settings *s, struct otelctx_span name,
                    struct otelctx_fault *fault)
{
    const int index = otelctx_context_key(name);

    fault->pos = (size_t)(name.at - s->options.attribute_keys.at) + 1;
    fault->why = otelctx_check_keys(&s->options);
    if (!fault->why && index == -EOPNOTSUPP)
        fault->why = "no keys: a program without libc announces no threads";
    else if (!fault->why)
        fault->why = "at most 256 keys, and 65536 bytes with "
                     "everything else";
    return index;
}

/* After the attributes, so that it is the keys that find no room. */
static void stage_keys(const struct otelctx_settings *s)
{
    struct otelctx_span rest = s->options.attribute_keys, name;
    struct otelctx_fault fault;

    while ((name = otelctx_span_member(&rest)).size > 0) {
        if (take_key(s, name, &fault) >= 0)
            continue;
        otelctx_context_forget_keys();
        otelctx_settings_fault(s, OTELCTX_OPTION_ATTRIBUTE_KEYS,
                               OTELCTX_DISCARDED, fault.pos, fault.why);
        return;
    }
}

static void stage_schema(const struct otelctx_settings *s)
{
    const enum otelctx_option_id id = OTELCTX_OPTION_SCHEMA_VERSION;

    if (!otelctx_host_has_libc() || !has_tls(s))
        otelctx_context_hide_threads(); /* without libc the user may know better
                                         */
    if (!s->source[id].text.at || !has_tls(s))
        return;
    if (otelctx_context_set_schema(s->options.schema_version))
        otelctx_settings_fault(s, id, OTELCTX_DISCARDED, OTELCTX_SCHEMA_MAX + 1,
                               OTELCTX_SCHEMA_EXPECTS);
    else if (!otelctx_glob_find(OTELCTX_SPAN(OTELCTX_KNOWN_SCHEMAS),
                                s->options.schema_version)
                  .at)
        otelctx_settings_fault(s, id, OTELCTX_COUNTS, 1, OTELCTX_KNOWN_SCHEMAS);
}

bool otelctx_stage_has_any(const struct otelctx_settings *s)
{
    return s->options.service_name.at || s->options.resource_attributes.at ||
           s->options.entities.at || s->options.extra_attributes.at ||
           s->options.attribute_keys.at ||
           s->source[OTELCTX_OPTION_SCHEMA_VERSION].text.at;
}

int otelctx_stage(struct otelctx_settings *s)
{
    int count;

    stage_schema(s);
    count = stage_entities(s);
    count += stage_resource(s);
    count += stage_extra(s);
    stage_keys(s);
    return count;
}
