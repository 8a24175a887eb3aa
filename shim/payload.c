/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/payload.h"

#include <errno.h>

#include "config/utf8.h"
#include "shim/compiler.h"
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
    VARINT_BYTE_MAX = 0x7f,
    /* Of an entry all of whose sizes are a byte each. */
    SHORT_HEADS = 8, /* four tags and four sizes */
    SHORT_MAX = 2 + VARINT_BYTE_MAX
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

/* One encoded attribute: offsets in bytes[]. */
struct entry {
    uint32_t start, end;
};

static uint32_t begin_of(const struct otelctx_payload *p, enum otelctx_place at)
{
    return at == OTELCTX_RESOURCE ? 0 : p->size[OTELCTX_RESOURCE];
}

static uint32_t end_of(const struct otelctx_payload *p, enum otelctx_place at)
{
    return begin_of(p, at) + p->size[at];
}

static bool is_empty(struct entry e)
{
    return e.start == e.end;
}

/* The key of the entry at `start`, where that ends, and, unless it is NULL, the
 * string that is its value. */
OTELCTX_RARE static struct otelctx_span
take_entry(const struct otelctx_payload *p, const uint8_t *start,
           const uint8_t **end, struct otelctx_span *value)
{
    struct otelctx_span rest = {
        (const char *)start,
        (size_t)(p->bytes + end_of(p, OTELCTX_EXTRA) - start)};
    struct otelctx_span key_value = otelctx_pb_take(&rest);
    const struct otelctx_span key = otelctx_pb_take(&key_value);

    *end = (const uint8_t *)rest.at;
    if (value) {
        struct otelctx_span any_value = otelctx_pb_take(&key_value);

        *value = otelctx_pb_take(&any_value);
    }
    return key;
}

/* Where it is; when it is not there: nothing, where the next one goes. */
static struct entry find(const struct otelctx_payload *p,
                         enum otelctx_place place, struct otelctx_span key)
{
    const uint8_t *at = p->bytes + begin_of(p, place);
    const uint8_t *const end = p->bytes + end_of(p, place);
    const uint8_t *next = end;

    for (; at < end; at = next) {
        /* Tag, size, tag, size: in an entry that is short, a byte each. */
        struct otelctx_span found = {(const char *)at + 4, at[3]};

        if (at[1] <= VARINT_BYTE_MAX) {
            next = at + 2 + at[1];
        } else {
            const uint8_t *after;

            found = take_entry(p, at, &after, NULL);
            next = after;
        }
        if (found.size == key.size && memcmp(found.at, key.at, key.size) == 0)
            break;
    }
    return (struct entry){(uint32_t)(at - p->bytes),
                          (uint32_t)(next - p->bytes)};
}

/* ---- One attribute, outside in ------------------------------------------ */

static size_t key_value_size(struct otelctx_span key, size_t value_size)
{
    return otelctx_pb_size(key.size) + otelctx_pb_size(value_size);
}

static size_t entry_size(struct otelctx_span key, struct otelctx_span value)
{
    return otelctx_pb_size(key_value_size(key, otelctx_pb_size(value.size)));
}

uint8_t *otelctx_payload_put_key(uint8_t *out, enum otelctx_place place,
                                 struct otelctx_span key, size_t value_size)
{
    out = otelctx_pb_field(out,
                           place == OTELCTX_RESOURCE
                               ? RESOURCE_ATTRIBUTES
                               : PROCESS_CONTEXT_EXTRA_ATTRIBUTES,
                           key_value_size(key, value_size));
    out = otelctx_pb_bytes(out, KEY_VALUE_KEY, key);
    return otelctx_pb_field(out, KEY_VALUE_VALUE, value_size);
}

uint8_t *otelctx_payload_put(uint8_t *out, enum otelctx_place place,
                             struct otelctx_span key, struct otelctx_span value)
{
    out = otelctx_payload_put_key(out, place, key, otelctx_pb_size(value.size));
    /* Also when it is empty: a member of a oneof has presence. */
    return otelctx_pb_bytes(out, ANY_VALUE_STRING_VALUE, value);
}

static size_t encoded_size(size_t resource, size_t extra)
{
    return otelctx_pb_size(resource) + extra;
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

/* Make room for `size` bytes where an entry, or nothing, was. */
static void resize(struct otelctx_payload *p, enum otelctx_place place,
                   const struct entry *old, uint32_t size)
{
    const uint32_t used = end_of(p, OTELCTX_EXTRA);
    const uint32_t end = old->start + size;

    if (end != old->end && old->end < used)
        memmove(p->bytes + end, p->bytes + old->end, used - old->end);
    p->size[place] += end - old->end;
}

/* Is each of the eight bytes one of 1..127? */
static bool is_plain_word(const char *at)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t word;

    __builtin_memcpy(&word, at, sizeof(word));
    return (((word - ones) | word) & ones << 7) == 0;
}

/* ASCII without a NUL, as nearly every text: it takes no look at each byte. */
static bool is_plain(struct otelctx_span s)
{
    const size_t word = sizeof(uint64_t);
    size_t at = 0;

    if (s.size < word) {
        while (at < s.size && (signed char)s.at[at] > 0)
            at++;
        return at == s.size;
    }
    while (at + word < s.size && is_plain_word(s.at + at))
        at += word;
    return at + word >= s.size && is_plain_word(s.at + s.size - word);
}

static bool is_text(struct otelctx_span s)
{
    return is_plain(s) ||
           (otelctx_utf8_valid(s) == s.size && !memchr(s.at, '\0', s.size));
}

bool otelctx_payload_is_key(struct otelctx_span key)
{
    return key.size > 0 && is_text(key);
}

OTELCTX_RARE static int check_key(struct otelctx_span key)
{
    if (!otelctx_payload_is_key(key))
        return -EINVAL;
    return otelctx_span_begins(key, OTELCTX_SPAN("threadlocal.")) ? -EPERM : 0;
}

OTELCTX_RARE static int set_any(struct otelctx_payload *p,
                                enum otelctx_place place,
                                struct otelctx_span key,
                                struct otelctx_span value)
{
    const struct entry old = find(p, place, key);
    const int err = check_key(key);
    size_t size = 0;

    if (err || (value.at && !is_text(value)))
        return err ? err : -EINVAL;
    if (value.at) {
        if (key.size > OTELCTX_PAYLOAD_MAX || value.size > OTELCTX_PAYLOAD_MAX)
            return -ENOSPC;
        size = entry_size(key, value);
        if (!fits(p, place, old.end - old.start, size))
            return -ENOSPC;
    }
    resize(p, place, &old, (uint32_t)size);
    if (value.at)
        (void)otelctx_payload_put(p->bytes + old.start, place, key, value);
    else if (!is_empty(old))
        p->is_complete = false;
    return 0;
}

/* Most often a short value becomes another one that is as long. */
int otelctx_payload_set(struct otelctx_payload *payload,
                        enum otelctx_place place, struct otelctx_span key,
                        struct otelctx_span value)
{
    const struct entry old = find(payload, place, key);
    const size_t size = SHORT_HEADS + key.size + value.size;

    if (old.end - old.start != size || size > SHORT_MAX || value.size == 0 ||
        !is_text(value))
        return set_any(payload, place, key, value);
    memcpy(payload->bytes + old.end - value.size, value.at, value.size);
    return 0;
}

bool otelctx_payload_has(const struct otelctx_payload *payload,
                         enum otelctx_place place, struct otelctx_span key)
{
    return !is_empty(find(payload, place, key));
}

void otelctx_payload_clear(struct otelctx_payload *payload,
                           enum otelctx_place place)
{
    const struct entry all = {begin_of(payload, place), end_of(payload, place)};

    resize(payload, place, &all, 0);
    payload->is_complete = false;
}

size_t otelctx_payload_size(const struct otelctx_payload *payload)
{
    return encoded_size(payload->size[OTELCTX_RESOURCE],
                        payload->size[OTELCTX_EXTRA]);
}

uint8_t *otelctx_payload_encode(const struct otelctx_payload *payload,
                                uint8_t *out)
{
    const uint32_t used = end_of(payload, OTELCTX_EXTRA);

    out = otelctx_pb_field(out, PROCESS_CONTEXT_RESOURCE,
                           payload->size[OTELCTX_RESOURCE]);
    memcpy(out, payload->bytes, used);
    return out + used;
}

const char *otelctx_payload_beyond(const struct otelctx_payload *payload)
{
    if (payload->size[OTELCTX_RESOURCE] > COMMON_RESOURCE_MAX)
        return "the resource is longer than 16383 bytes";

    for (unsigned place = OTELCTX_RESOURCE; place <= OTELCTX_EXTRA; place++) {
        const uint8_t *at = payload->bytes + begin_of(payload, place);
        const uint8_t *const end = payload->bytes + end_of(payload, place);
        unsigned pairs = place == OTELCTX_EXTRA ? RESERVED_PAIRS : 0;

        for (; at < end; pairs++) {
            struct otelctx_span value;

            if (take_entry(payload, at, &at, &value).size > COMMON_STRING_MAX ||
                value.size > COMMON_STRING_MAX)
                return "a key or value is longer than 4096 bytes";
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
