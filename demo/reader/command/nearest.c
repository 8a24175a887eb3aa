/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/nearest.h"

#include "config/options.h"
#include "demo/base/near.h"

static size_t distance(struct otelctx_span a, struct otelctx_span b)
{
    return otelbase_near_distance(a.at, a.size, b.at, b.size);
}

/* Whether the option is that name with OTEL_ or OTELCTX_ in front. */
static bool lacks_prefix(struct otelctx_span name, struct otelctx_span option)
{
    const struct otelctx_span end = {option.at + (option.size - name.size),
                                     name.size};

    return option.size > name.size && end.at[-1] == '_' &&
           distance(name, end) == 0;
}

const char *otelread_nearest_option(struct otelctx_span name)
{
    const char *nearest = NULL;
    size_t best = name.size / 3 + 1;

    if (name.size == 0 || name.size > OTELBASE_NEAR_MAX)
        return NULL;
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const char *const text = otelctx_option_name(id);
        const struct otelctx_span option = otelctx_span_from(text);
        const size_t far =
            lacks_prefix(name, option) ? 0 : distance(option, name);

        if (!otelctx_option_is_of_environment(id) && far < best) {
            nearest = text;
            best = far;
        }
    }
    return nearest;
}
