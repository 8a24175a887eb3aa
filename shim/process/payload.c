/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/payload.h"

#include <errno.h>

#include "config/utf8.h"
#include "shim/base/compiler.h"
#include "shim/process/protobuf.h"

/* Field numbers of the published proto files. */
enum {
    PROCESS_CONTEXT_RESOURCE = 1,
    PROCESS_CONTEXT_EXTRA_ATTRIBUTES = 2,
    RESOURCE_ATTRIBUTES = 1,
    KEY_VALUE_KEY = 1,
    KEY_VALUE_VALUE = 2,
    ANY_VALUE_STRING_VALUE = 1,
    ENTITY_REF_ID_KEYS = 3, /* and description_keys = 4 */
};
/* A short entry is one whose four sizes take a byte each. */
enum {
    VARINT_BYTE_MAX = 0x7f,
    SHORT_HEADS = 8, /* bytes: four tags and four sizes */
    SHORT_MAX = 2 + VARINT_BYTE_MAX
};

/* One encoded attribute: offsets in bytes[]. */
struct entry {
    uint32_t start, end;
};

/* The body of the Resource: its attributes, then the entity_refs. */
static uint32_t resource_size(const struct otelctx_payload *p)
{
    return p->size[OTELCTX_RESOURCE] + p->refs_size;
}

static uint32_t begin_of(const struct otelctx_payload *p, enum otelctx_place at)
{
    return at == OTELCTX_RESOURCE ? 0 : resource_size(p);
}

static uint32_t end_of(const struct otelctx_payload *p, enum otelctx_place at)
{
    return begin_of(p, at) + p->size[at];
}

static bool is_entry_empty(struct entry e)
{
    return e.start == e.end;
}

struct otelctx_span
otelctx_payload_attributes(const struct otelctx_payload *payload,
                           enum otelctx_place place)
{
    return (struct otelctx_span){(const char *)payload->bytes +
                                     begin_of(payload, place),
                                 payload->size[place]};
}

struct otelctx_span otelctx_payload_refs(const struct otelctx_payload *payload)
{
    return (struct otelctx_span){(const char *)payload->bytes +
                                     end_of(payload, OTELCTX_RESOURCE),
                                 payload->refs_size};
}

OTELCTX_RARE struct otelctx_span
otelctx_payload_take(struct otelctx_span *rest, struct otelctx_span *value)
{
    struct otelctx_span key_value = otelctx_protobuf_take(rest);
    const struct otelctx_span key = otelctx_protobuf_take(&key_value);
    struct otelctx_span any_value = otelctx_protobuf_take(&key_value);

    *value = otelctx_protobuf_take(&any_value);
    return key;
}

/* The entry of a key; without one, an empty entry at the end of the place. */
static struct entry find_entry(const struct otelctx_payload *p,
                               enum otelctx_place place,
                               struct otelctx_span key)
{
    const uint8_t *at = p->bytes + begin_of(p, place);
    const uint8_t *const end = p->bytes + end_of(p, place);
    const uint8_t *next = end;

    for (; at < end; at = next) {
        /* Tag, size, tag, size: a byte each in a short entry. */
        struct otelctx_span found = {(const char *)at + 4, at[3]};

        if (at[1] <= VARINT_BYTE_MAX) {
            next = at + 2 + at[1];
        } else {
            struct otelctx_span value,
                rest = {(const char *)at, (size_t)(end - at)};

            found = otelctx_payload_take(&rest, &value);
            next = (const uint8_t *)rest.at;
        }
        if (found.size == key.size && memcmp(found.at, key.at, key.size) == 0)
            break;
    }
    return (struct entry){(uint32_t)(at - p->bytes),
                          (uint32_t)(next - p->bytes)};
}

/* The last part is written first: see protobuf.h. */
void otelctx_payload_put_key(struct otelctx_protobuf *out,
                             enum otelctx_place place, struct otelctx_span key,
                             size_t since)
{
    otelctx_protobuf_head(out, KEY_VALUE_VALUE, since);
    otelctx_protobuf_bytes(out, KEY_VALUE_KEY, key);
    otelctx_protobuf_head(out,
                          place == OTELCTX_RESOURCE
                              ? RESOURCE_ATTRIBUTES
                              : PROCESS_CONTEXT_EXTRA_ATTRIBUTES,
                          since);
}

void otelctx_payload_put(struct otelctx_protobuf *out, enum otelctx_place place,
                         struct otelctx_span key, struct otelctx_span value)
{
    const size_t since = out->size;

    /* An empty string is written, too: a member of a oneof has presence. */
    otelctx_protobuf_bytes(out, ANY_VALUE_STRING_VALUE, value);
    otelctx_payload_put_key(out, place, key, since);
}

/* Does the payload stay short enough when `new` bytes replace `old` bytes? */
static bool fits(const struct otelctx_payload *p, enum otelctx_place place,
                 size_t old, size_t new)
{
    size_t size[2] = {resource_size(p), p->size[OTELCTX_EXTRA]};
    struct otelctx_protobuf counted = {0};

    size[place] += new - old;
    counted.size = size[OTELCTX_RESOURCE];
    otelctx_protobuf_head(&counted, PROCESS_CONTEXT_RESOURCE, 0);
    return counted.size + size[OTELCTX_EXTRA] + p->reserved <=
           OTELCTX_PAYLOAD_MAX;
}

/* Replace an entry, which may be empty, by room for `size` bytes. `counter` is
 * the size that includes the entry. */
static void resize(struct otelctx_payload *p, uint32_t *counter,
                   const struct entry *old, uint32_t size)
{
    const uint32_t used = end_of(p, OTELCTX_EXTRA);
    const uint32_t end = old->start + size;
    struct otelctx_protobuf varint = {p->varint + sizeof(p->varint), 0};

    if (end != old->end && old->end < used)
        memmove(p->bytes + end, p->bytes + old->end, used - old->end);
    *counter += end - old->end;
    otelctx_protobuf_varint(&varint, resource_size(p));
    p->varint_more = (uint8_t)(varint.size - 1);
}

/* Is each of the eight bytes one of 1..127? */
static bool is_plain_word(const char *at)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t word;

    __builtin_memcpy(&word, at, sizeof(word));
    return (((word - ones) | word) & ones << 7) == 0;
}

/* Is it ASCII without a NUL? Nearly every text is, and eight bytes at a time
 * are checked faster than UTF-8. */
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

/* Does an entity have the attribute? Then it has to stay: resource.proto, "keys
 * in the references MUST exist in attributes". */
static bool is_referenced(const struct otelctx_payload *p,
                          enum otelctx_place place, struct otelctx_span key)
{
    struct otelctx_span rest = otelctx_payload_refs(p);

    while (place == OTELCTX_RESOURCE && rest.size > 0) {
        struct otelctx_span ref = otelctx_protobuf_take(&rest);

        while (ref.size > 0) {
            const uint8_t tag = (uint8_t)ref.at[0];

            if (otelctx_span_equal(otelctx_protobuf_take(&ref), key) &&
                tag >= otelctx_protobuf_tag(ENTITY_REF_ID_KEYS))
                return true;
        }
    }
    return false;
}

OTELCTX_RARE static int check_key(struct otelctx_span key)
{
    if (!otelctx_payload_is_key(key))
        return -EINVAL;
    return otelctx_span_begins(key, OTELCTX_SPAN("threadlocal.")) ? -EPERM : 0;
}

static int set_any(struct otelctx_payload *p, enum otelctx_place place,
                   struct otelctx_span key, struct otelctx_span value)
{
    const struct entry old = find_entry(p, place, key);
    const int err = check_key(key);
    struct otelctx_protobuf counted = {0}, out = {0};

    if (err || (value.at && !is_text(value)))
        return err ? err : -EINVAL;
    if (value.at) {
        if (key.size > OTELCTX_PAYLOAD_MAX || value.size > OTELCTX_PAYLOAD_MAX)
            return -ENOSPC;
        otelctx_payload_put(&counted, place, key, value);
        if (!fits(p, place, old.end - old.start, counted.size))
            return -ENOSPC;
    } else if (is_referenced(p, place, key)) {
        return -EPERM;
    }
    resize(p, &p->size[place], &old, (uint32_t)counted.size);
    out.at = p->bytes + old.start + counted.size;
    if (value.at)
        otelctx_payload_put(&out, place, key, value);
    else if (!is_entry_empty(old))
        p->is_complete = false;
    return 0;
}

/* The most frequent change has a fast path: a short value replaces one of the
 * same length, so no head changes. */
int otelctx_payload_set(struct otelctx_payload *payload,
                        enum otelctx_place place, struct otelctx_span key,
                        struct otelctx_span value)
{
    const struct entry old = find_entry(payload, place, key);
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
    return !is_entry_empty(find_entry(payload, place, key));
}

struct otelctx_span otelctx_payload_get(const struct otelctx_payload *payload,
                                        enum otelctx_place place,
                                        struct otelctx_span key)
{
    const struct entry found = find_entry(payload, place, key);
    struct otelctx_span rest = {(const char *)payload->bytes + found.start, 1};
    struct otelctx_span value = {0};

    if (!is_entry_empty(found))
        (void)otelctx_payload_take(&rest, &value);
    return value;
}

uint8_t *otelctx_payload_add_ref(struct otelctx_payload *payload, size_t size)
{
    const uint32_t at = end_of(payload, OTELCTX_RESOURCE);
    const struct entry nothing = {at, at};

    if (!fits(payload, OTELCTX_RESOURCE, 0, size))
        return NULL;
    resize(payload, &payload->refs_size, &nothing, (uint32_t)size);
    return payload->bytes + at + size;
}

/* What one copy takes: the varint and the bytes in use. */
static size_t kept_size(const struct otelctx_payload *p)
{
    return p->varint_more + (size_t)1 + end_of(p, OTELCTX_EXTRA);
}

size_t otelctx_payload_size(const struct otelctx_payload *payload)
{
    return 1 + kept_size(payload); /* with the tag */
}

uint8_t *otelctx_payload_encode(const struct otelctx_payload *payload,
                                uint8_t *out)
{
    const uint8_t *const bytes =
        (const uint8_t *)payload + offsetof(struct otelctx_payload, bytes);
    const size_t size = kept_size(payload);

    *out++ = otelctx_protobuf_tag(PROCESS_CONTEXT_RESOURCE);
    memcpy(out, bytes - payload->varint_more - 1, size);
    return out + size;
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
