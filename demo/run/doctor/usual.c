/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/doctor/usual.h"

const char *const otelrun_usual_places[] = {
    "/usr/local/lib/",
    "/usr/local/lib/" OTELRUN_TRIPLET "/",
    "/lib/" OTELRUN_TRIPLET "/",
    "/usr/lib/" OTELRUN_TRIPLET "/",
    "/lib64/",
    "/usr/lib64/",
    "/lib/",
    "/usr/lib/",
    NULL,
};

static bool is_in(const struct otelctx_span *rest, const char *separators)
{
    return *rest->at != '\0' && strchr(separators, *rest->at);
}

struct otelctx_span otelrun_preload_next(struct otelctx_span *rest,
                                         const char *separators)
{
    struct otelctx_span entry;

    while (rest->size > 0 && is_in(rest, separators))
        rest->at++, rest->size--;
    entry = (struct otelctx_span){rest->at, 0};
    while (rest->size > 0 && !is_in(rest, separators))
        rest->at++, rest->size--, entry.size++;
    return entry;
}

bool otelrun_preload_is(struct otelctx_span entry, const char *library)
{
    const struct otelctx_span name = otelctx_span_from(library);

    if (entry.size < name.size)
        return false;
    entry.at += entry.size - name.size;
    return memcmp(entry.at, name.at, name.size) == 0 &&
           (entry.size == name.size || entry.at[-1] == '/');
}

bool otelrun_preload_is_ours(struct otelctx_span entry)
{
    return otelrun_preload_is(entry, OTELRUN_LIBRARY);
}
