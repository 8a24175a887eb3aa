/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/payload.h"

#include <errno.h>

#include "config/utf8.h"
#include "shim/pb.h"

/* Field numbers of the published proto files. */
enum {
    PROCESS_CONTEXT_RESOURCE = 1,
    PROCESS_CONTEXT_EXTRA_ATTRIBUTES = 2,
    RESOURCE_ATTRIBUTES = 1,
    KEY_VALUE_KEY = 1,
    KEY_VALUE_VALUE = 2,
    ANY_VALUE_STRING_VALUE = 1,
};
enum {
    VARINT_BYTE_MAX = 0x7f
};

/* What the reference reader and ctx-sharing-demo take; more is still read by
 * the eBPF profiler, OBI and datadog-agent. */
enum {
    COMMON_STRING_MAX = 4096,
    COMMON_PAIRS_MAX = 100,
    RESERVED_PAIRS = 2 /* beside the extra attributes, see keys.h */
};
enum {
    COMMON_RESOURCE_MAX = 16383
};

/* One encoded attribute. */
struct entry {
    uint32_t start, end; /* offsets in bytes[] */
    struct otelctx_span key;
    struct otelctx_span value; /* the field with the AnyValue */
};

static uint32_t begin_of(const struct otelctx_payload *p, enum otelctx_place at)
{
    return at == OTELCTX_RESOURCE ? 0 : p->size[OTELCTX_RESOURCE];
}

static uint32_t end_of(const struct otelctx_payload *p, enum otelctx_place at)
{
    return begin_of(p, at) + p->size[at];
}

/* Without the value, which a search does not look at. */
static struct entry entry_at(const struct otelctx_payload *p, uint32_t start)
{
    const char *const bytes = (const char *)p->bytes;
    struct otelctx_span rest = {bytes + start,
                                end_of(p, OTELCTX_EXTRA) - start};
    struct entry e = {.start = start, .value = otelctx_pb_take(&rest)};

    e.end = (uint32_t)(rest.at - bytes);
    e.key = otelctx_pb_take(&e.value);
    return e;
}

static struct otelctx_span value_of(const struct entry *e)
{
    struct otelctx_span rest = e->value;
    struct otelctx_span any_value = otelctx_pb_take(&rest);

    return otelctx_pb_take(&any_value);
}

static bool find(const struct otelctx_payload *p, enum otelctx_place place,
                 struct otelctx_span key, struct entry *out)
{
    const uint32_t end = end_of(p, place);
    uint32_t at = begin_of(p, place);

    while (at < end) {
        /* Tag, size, tag, size: in an entry that is short, a byte each. */
        const uint8_t *const head = p->bytes + at;

        if (head[1] <= VARINT_BYTE_MAX && head[3] != key.size) {
            at += 2u + head[1];
            continue;
        }
        *out = entry_at(p, at);
        if (otelctx_span_equal(out->key, key))
            return true;
        at = out->end;
    }
    return false;
}

static void put_key(struct otelctx_pb *pb, struct otelctx_span key,
                    size_t value_size)
{
    otelctx_pb_bytes(pb, KEY_VALUE_KEY, key);
    otelctx_pb_field(pb, KEY_VALUE_VALUE, value_size);
}

void otelctx_payload_put_key(struct otelctx_pb *pb, enum otelctx_place place,
                             struct otelctx_span key, size_t value_size)
{
    struct otelctx_pb key_value = {.size = value_size};

    put_key(&key_value, key, value_size);
    otelctx_pb_field(pb,
                     place == OTELCTX_RESOURCE
                         ? RESOURCE_ATTRIBUTES
                         : PROCESS_CONTEXT_EXTRA_ATTRIBUTES,
                     key_value.size);
    put_key(pb, key, value_size);
}

static void put_any_value(struct otelctx_pb *pb, struct otelctx_span value)
{
    /* Also when it is empty: a member of a oneof has presence. */
    otelctx_pb_bytes(pb, ANY_VALUE_STRING_VALUE, value);
}

void otelctx_payload_put(struct otelctx_pb *pb, enum otelctx_place place,
                         struct otelctx_span key, struct otelctx_span value)
{
    struct otelctx_pb any_value = {0};

    put_any_value(&any_value, value);
    otelctx_payload_put_key(pb, place, key, any_value.size);
    put_any_value(pb, value);
}

static size_t encoded_size(size_t resource, size_t extra)
{
    struct otelctx_pb head = {0};

    otelctx_pb_field(&head, PROCESS_CONTEXT_RESOURCE, resource);
    return head.size + resource + extra;
}

/* Would the payload, without `old` bytes and with `new` ones, be too long? */
static bool fits(const struct otelctx_payload *p, enum otelctx_place place,
                 size_t old, size_t new)
{
    size_t size[2] = {p->size[OTELCTX_RESOURCE], p->size[OTELCTX_EXTRA]};

    size[place] += new - old;
    return encoded_size(size[OTELCTX_RESOURCE], size[OTELCTX_EXTRA]) +
               p->reserved <=
           OTELCTX_PAYLOAD_MAX;
}

static void remove_entry(struct otelctx_payload *p, enum otelctx_place place,
                         const struct entry *e)
{
    const uint32_t used = end_of(p, OTELCTX_EXTRA);

    memmove(p->bytes + e->start, p->bytes + e->end, used - e->end);
    p->size[place] -= e->end - e->start;
}

/* Open `size` bytes at the end of a place. */
static uint8_t *append(struct otelctx_payload *p, enum otelctx_place place,
                       uint32_t size)
{
    const uint32_t at = end_of(p, place);

    memmove(p->bytes + at + size, p->bytes + at, end_of(p, OTELCTX_EXTRA) - at);
    p->size[place] += size;
    return p->bytes + at;
}

static bool is_text(struct otelctx_span s)
{
    return otelctx_utf8_valid(s) == s.size &&
           (s.size == 0 || !memchr(s.at, '\0', s.size));
}

bool otelctx_payload_is_key(struct otelctx_span key)
{
    return key.size > 0 && is_text(key);
}

static int check_key(struct otelctx_span key)
{
    if (!otelctx_payload_is_key(key))
        return -EINVAL;
    if (otelctx_span_begins(key, OTELCTX_SPAN("threadlocal.")))
        return -EPERM;
    return 0;
}

int otelctx_payload_set(struct otelctx_payload *payload,
                        enum otelctx_place place, struct otelctx_span key,
                        struct otelctx_span value)
{
    const int err = check_key(key);
    struct otelctx_pb count = {0};
    struct entry old = {0};
    bool replaces;

    if (err)
        return err;
    if (!is_text(value))
        return -EINVAL;
    if (key.size > OTELCTX_PAYLOAD_MAX || value.size > OTELCTX_PAYLOAD_MAX)
        return -ENOSPC;

    otelctx_payload_put(&count, place, key, value);
    replaces = find(payload, place, key, &old);
    if (!fits(payload, place, replaces ? old.end - old.start : 0, count.size))
        return -ENOSPC;

    if (replaces)
        remove_entry(payload, place, &old);
    otelctx_payload_put(
        &(struct otelctx_pb){.out =
                                 append(payload, place, (uint32_t)count.size)},
        place, key, value);
    return 0;
}

int otelctx_payload_unset(struct otelctx_payload *payload,
                          enum otelctx_place place, struct otelctx_span key)
{
    const int err = check_key(key);
    struct entry old = {0};

    if (!err && find(payload, place, key, &old))
        remove_entry(payload, place, &old);
    return err;
}

bool otelctx_payload_has(const struct otelctx_payload *payload,
                         enum otelctx_place place, struct otelctx_span key)
{
    struct entry found;

    return find(payload, place, key, &found);
}

void otelctx_payload_clear(struct otelctx_payload *payload,
                           enum otelctx_place place)
{
    const uint32_t begin = begin_of(payload, place);
    const uint32_t end = end_of(payload, place);

    memmove(payload->bytes + begin, payload->bytes + end,
            end_of(payload, OTELCTX_EXTRA) - end);
    payload->size[place] = 0;
}

size_t otelctx_payload_size(const struct otelctx_payload *payload)
{
    return encoded_size(payload->size[OTELCTX_RESOURCE],
                        payload->size[OTELCTX_EXTRA]);
}

void otelctx_payload_encode(const struct otelctx_payload *payload, uint8_t *out)
{
    struct otelctx_pb pb = {.out = out};

    otelctx_pb_field(&pb, PROCESS_CONTEXT_RESOURCE,
                     payload->size[OTELCTX_RESOURCE]);
    memcpy(out + pb.size, payload->bytes, end_of(payload, OTELCTX_EXTRA));
}

const char *otelctx_payload_beyond(const struct otelctx_payload *payload)
{
    if (payload->size[OTELCTX_RESOURCE] > COMMON_RESOURCE_MAX)
        return "the resource is longer than 16383 bytes";

    for (unsigned place = OTELCTX_RESOURCE; place <= OTELCTX_EXTRA; place++) {
        const uint32_t end = end_of(payload, place);
        unsigned pairs = place == OTELCTX_EXTRA ? RESERVED_PAIRS : 0;

        for (uint32_t at = begin_of(payload, place); at < end; pairs++) {
            const struct entry e = entry_at(payload, at);

            if (e.key.size > COMMON_STRING_MAX ||
                value_of(&e).size > COMMON_STRING_MAX)
                return "a key or value is longer than 4096 bytes";
            at = e.end;
        }
        if (pairs > COMMON_PAIRS_MAX)
            return "there are more than 100 attributes";
    }
    return NULL;
}

size_t otelctx_payload_used(const struct otelctx_payload *payload)
{
    return end_of(payload, OTELCTX_EXTRA);
}

void otelctx_payload_copy(struct otelctx_payload *to,
                          const struct otelctx_payload *from)
{
    memcpy(to, from,
           offsetof(struct otelctx_payload, bytes) +
               end_of(from, OTELCTX_EXTRA));
}
