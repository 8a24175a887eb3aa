/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/reader_limits.h"

enum {
    STRING_MAX = 4096,
    PAIRS_MAX = 100, /* in each place */
    RESOURCE_MAX = 16383,
    KEYS_MAX = 100,
    KEY_MAP_MAX = 16383, /* bytes of the array */
    KEY_MAP_PAIRS = 2    /* key_map.c adds these to the extra attributes */
};

/* Checks one place, which has `count` attributes besides the payload's. */
static const char *limit_exceeded_in(const struct otelctx_payload *payload,
                                     enum otelctx_place place, unsigned count)
{
    struct otelctx_span rest = otelctx_payload_attributes(payload, place);

    for (; rest.size > 0; count++) {
        struct otelctx_span value;

        if (otelctx_payload_take(&rest, &value).size > STRING_MAX ||
            value.size > STRING_MAX)
            return "a key or value is longer than 4096 bytes";
    }
    return count > PAIRS_MAX ? "there are more than 100 attributes" : NULL;
}

const char *
otelctx_reader_limits_exceeded(const struct otelctx_payload *payload)
{
    const char *limit;

    if (payload->size[OTELCTX_RESOURCE] + payload->refs_size > RESOURCE_MAX)
        return "the resource is longer than 16383 bytes";
    limit = limit_exceeded_in(payload, OTELCTX_RESOURCE, 0);
    return limit ? limit
                 : limit_exceeded_in(payload, OTELCTX_EXTRA, KEY_MAP_PAIRS);
}

const char *otelctx_reader_limits_of_keys(const struct otelctx_key_map *keys)
{
    if (otelctx_key_map_count(keys) > KEYS_MAX)
        return "there are more than 100";
    return otelctx_key_map_used(keys) > KEY_MAP_MAX
               ? "their map is longer than 16383 bytes"
               : NULL;
}
