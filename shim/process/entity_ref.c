/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/entity_ref.h"

#include <errno.h>

#include "config/attrs.h"
#include "shim/process/protobuf.h"
#include "shim/process/state.h"

/* Field numbers of resource.proto and common.proto. */
enum {
    RESOURCE_ENTITY_REFS = 3,
    ENTITY_REF_SCHEMA_URL = 1,
    ENTITY_REF_TYPE = 2,
    ENTITY_REF_ID_KEYS = 3,
    ENTITY_REF_DESCRIPTION_KEYS = 4,
};

/* Take the last attribute off a list. Returns as otelctx_attrs_next(), and
 * out->pos or fault->pos count from `text`. */
static int take_attribute(struct otelctx_span *list, const char *text,
                          struct otelctx_pair *out, struct otelctx_fault *fault)
{
    struct otelctx_span member;
    struct otelctx_attrs it;
    size_t size;
    int got;

    if (list->size == 0)
        return 0;
    member = otelctx_entities_take_member(list);
    size =
        member.size < OTELCTX_PAYLOAD_MAX ? member.size : OTELCTX_PAYLOAD_MAX;
    it = otelctx_attrs_begin(member, otelctx_state_scratch(size), size);
    got = otelctx_attrs_next(&it, out, fault);
    if (got > 0)
        out->pos += (size_t)(member.at - text);
    if (got < 0)
        fault->pos += (size_t)(member.at - text);
    return got;
}

/* Set one attribute. Returns as otelctx_payload_set(), or -EEXIST: a later
 * entity has set it to another value. */
static int set_attribute(struct otelctx_payload *payload,
                         const struct otelctx_pair *pair)
{
    const struct otelctx_span old =
        otelctx_payload_get(payload, OTELCTX_RESOURCE, pair->key);

    if (!old.at)
        return otelctx_payload_set(payload, OTELCTX_RESOURCE, pair->key,
                                   pair->value);
    return otelctx_span_equal(old, pair->value) ? 0 : -EEXIST;
}

/* Set those of a list. Returns as otelctx_entity_ref_add(). */
static int set_list(struct otelctx_payload *payload, struct otelctx_span list,
                    bool identifies, const char *text,
                    struct otelctx_fault *fault)
{
    struct otelctx_pair pair;
    int result = 0, got;

    while ((got = take_attribute(&list, text, &pair, fault)) > 0) {
        const int err = set_attribute(payload, &pair);

        if (!err)
            continue;
        fault->pos = pair.pos;
        fault->why = err == -EEXIST ? "the value of a later entity" : NULL;
        if (err != -EEXIST || identifies)
            return err;
        result = 1;
    }
    return got < 0 ? got : result;
}

/* Write the keys of a list whose values are those in the payload, the last one
 * first: see protobuf.h. */
static void put_keys(struct otelctx_protobuf *out, unsigned number,
                     struct otelctx_span list,
                     const struct otelctx_payload *payload)
{
    struct otelctx_fault fault;
    struct otelctx_pair pair;

    while (take_attribute(&list, list.at, &pair, &fault) > 0) {
        const struct otelctx_span value =
            otelctx_payload_get(payload, OTELCTX_RESOURCE, pair.key);

        if (otelctx_span_equal(value, pair.value))
            otelctx_protobuf_bytes(out, number, pair.key);
    }
}

static void put_ref(struct otelctx_protobuf *out,
                    const struct otelctx_entity *entity,
                    const struct otelctx_payload *payload)
{
    const size_t since = out->size;

    put_keys(out, ENTITY_REF_DESCRIPTION_KEYS, entity->descriptions, payload);
    put_keys(out, ENTITY_REF_ID_KEYS, entity->ids, payload);
    otelctx_protobuf_bytes(out, ENTITY_REF_TYPE, entity->type);
    if (entity->schema_url.size > 0)
        otelctx_protobuf_bytes(out, ENTITY_REF_SCHEMA_URL, entity->schema_url);
    otelctx_protobuf_head(out, RESOURCE_ENTITY_REFS, since);
}

/* Is it the ref of an entity of this type with these identifying keys? */
static bool is_ref_of(struct otelctx_span ref,
                      const struct otelctx_entity *entity)
{
    struct otelctx_span list = entity->ids;

    while (ref.size > 0) {
        const uint8_t tag = (uint8_t)ref.at[0];
        const struct otelctx_span body = otelctx_protobuf_take(&ref);

        if (tag == otelctx_protobuf_tag(ENTITY_REF_TYPE) &&
            !otelctx_span_equal(body, entity->type))
            return false;
        if (tag != otelctx_protobuf_tag(ENTITY_REF_ID_KEYS))
            continue;
        if (!otelctx_entities_has(entity->ids, body))
            return false;
        (void)otelctx_entities_take_member(&list); /* as many on both sides */
    }
    return list.size == 0;
}

static bool is_known(const struct otelctx_payload *payload,
                     const struct otelctx_entity *entity)
{
    struct otelctx_span rest = otelctx_payload_refs(payload);

    while (rest.size > 0)
        if (is_ref_of(otelctx_protobuf_take(&rest), entity))
            return true;
    return false;
}

int otelctx_entity_ref_add(struct otelctx_payload *payload,
                           const struct otelctx_entity *entity,
                           const char *text, struct otelctx_fault *fault)
{
    struct otelctx_protobuf ref = {0};
    int result = set_list(payload, entity->ids, true, text, fault);

    if (result)
        return result;
    if (is_known(payload, entity)) {
        fault->pos = (size_t)(entity->type.at - text) + 1;
        fault->why = "no later entity of this type and identity";
        return -EEXIST;
    }
    result = set_list(payload, entity->descriptions, false, text, fault);
    if (result < 0)
        return result;
    put_ref(&ref, entity, payload);
    ref.at = otelctx_payload_add_ref(payload, ref.size);
    if (!ref.at) {
        fault->pos = (size_t)(entity->type.at - text) + 1;
        fault->why = NULL;
        return -ENOSPC;
    }
    put_ref(&ref, entity, payload);
    return result;
}
