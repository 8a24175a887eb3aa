/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/layout.h"

#include "demo/reader/payload/msgpack.h"

#include <errno.h>
#include <string.h>

/* January 2025, before there was a context, and the year 2100. */
#define REALTIME_MIN_NS UINT64_C(1735689600000000000)
#define REALTIME_MAX_NS UINT64_C(4102444800000000000)

/* Version 2 with the time in front: the reference implementation of 2025. */
struct packed {
    uint8_t signature[OTELCTX_SIGNATURE_SIZE];
    uint32_t version;
    uint64_t published_at_ns;
    uint32_t payload_size;
    uint64_t payload;
} __attribute__((packed));

/* Version 1 of the same. */
struct first {
    uint8_t signature[OTELCTX_SIGNATURE_SIZE];
    uint32_t version;
    uint32_t payload_size;
    uint64_t payload;
    uint64_t behind; /* of the page, which was zero */
};

static_assert(sizeof(struct packed) == sizeof(struct otelctx_header), "");
static_assert(sizeof(struct first) == sizeof(struct otelctx_header), "");

const char *otelread_layout_name(enum otelread_layout layout)
{
    static const char *const names[] = {
        [OTELREAD_LAYOUT_ACCEPTED] = "accepted",
        [OTELREAD_LAYOUT_DRAFT] = "draft",
        [OTELREAD_LAYOUT_PACKED] = "packed",
        [OTELREAD_LAYOUT_VERSION_1] = "version_1",
        [OTELREAD_LAYOUT_FIRST] = "version_1_msgpack",
    };

    return names[layout];
}

/* No machine is up for so many years, so it is no CLOCK_BOOTTIME. */
bool otelread_layout_is_realtime(uint64_t published_at_ns)
{
    return published_at_ns >= REALTIME_MIN_NS &&
           published_at_ns <= REALTIME_MAX_NS;
}

static bool is_size(uint32_t size)
{
    return size > 0 && size <= OTELCTX_PAYLOAD_MAX;
}

static bool is_packed(const struct otelctx_header *header,
                      const struct packed *packed)
{
    return !is_size(header->payload_size) && is_size(packed->payload_size) &&
           otelread_layout_is_realtime(packed->published_at_ns);
}

enum otelread_layout otelread_layout_read(const struct otelread_raw_header *raw,
                                          struct otelctx_header *header)
{
    struct packed packed;
    struct first first;

    (void)memcpy(header, raw, sizeof(*header));
    (void)memcpy(&packed, raw, sizeof(packed));
    (void)memcpy(&first, raw, sizeof(first));
    if (header->version == 1 && first.behind == 0) {
        header->published_at_ns = 0;
        header->payload = first.payload;
        return OTELREAD_LAYOUT_FIRST;
    }
    if (header->version == 1)
        return OTELREAD_LAYOUT_VERSION_1;
    if (is_packed(header, &packed)) {
        header->published_at_ns = packed.published_at_ns;
        header->payload_size = packed.payload_size;
        return OTELREAD_LAYOUT_PACKED;
    }
    return otelread_layout_is_realtime(header->published_at_ns)
               ? OTELREAD_LAYOUT_DRAFT
               : OTELREAD_LAYOUT_ACCEPTED;
}

/* Bytes of a Resource may be those of a ProcessContext, but of an odd one. */
static bool is_plausible(const struct otelread_decoded *decoded)
{
    for (const struct otelread_node *node = decoded->resource.first; node;
         node = node->next) {
        if (node->key.size == 0)
            return false;
    }
    return true;
}

static int decode_either(const uint8_t *payload, size_t size,
                         struct otelread_decoded *out,
                         struct otelread_fault *fault, bool *bare)
{
    struct otelread_decoded resource;
    struct otelread_fault ignored;
    const int error = otelread_decode(payload, size, out, fault);

    *bare = false;
    if ((error == 0 && is_plausible(out)) ||
        otelread_decode_resource(payload, size, &resource, &ignored) != 0)
        return error;
    otelread_decoded_free(out);
    *out = resource;
    *fault = ignored;
    *bare = true;
    return 0;
}

int otelread_layout_decode(enum otelread_layout layout, const uint8_t *payload,
                           size_t size, struct otelread_decoded *out,
                           struct otelread_fault *fault, bool *bare)
{
    *bare = false;
    if (layout == OTELREAD_LAYOUT_ACCEPTED)
        return otelread_decode(payload, size, out, fault);
    if (layout == OTELREAD_LAYOUT_FIRST)
        return otelread_msgpack_decode(payload, size, out, fault);
    return decode_either(payload, size, out, fault, bare);
}
