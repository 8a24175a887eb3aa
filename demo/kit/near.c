/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/near.h"

#include "demo/base/near.h"
#include "demo/kit/otelctx_kit.h"

#include <string.h>

enum {
    SHOWN_MAX = 5
};

static size_t distance(const char *a, const char *b)
{
    return otelbase_near_distance(a, strlen(a), b, strlen(b));
}

/* The user may leave out the group, and the end of the name. */
static size_t farness(const char *name, const char *scenario)
{
    const char *const slash = strchr(scenario, '/');
    const size_t whole = distance(name, scenario);
    const size_t part = slash ? distance(name, slash + 1) : whole;

    if (strstr(scenario, name))
        return 0;
    return part < whole ? part : whole;
}

void otelkit_near_print(FILE *out, const char *program, const char *name)
{
    const struct otelctx_kit_scenario *one;
    const size_t third = strlen(name) / 3;
    const size_t limit = third < 4 ? third : 4;
    unsigned shown = 0;

    (void)fprintf(out, "%s: no scenario \"%s\"", program, name);
    for (size_t far = 0; far <= limit && shown < SHOWN_MAX; far++) {
        for (size_t i = 0; (one = otelctx_kit_scenario(i)); i++) {
            if (shown == SHOWN_MAX || farness(name, one->name) != far)
                continue;
            (void)fprintf(out, "%s%s", shown == 0 ? "; near are " : ", ",
                          one->name);
            shown++;
        }
    }
    (void)fprintf(out, "%s\n", shown == 0 ? "; see otelctx-play list" : "");
}
