/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/near.h"

#include "demo/kit/otelctx_kit.h"

#include <string.h>

enum {
    LENGTH_MAX = 63,
    SHOWN_MAX = 5
};

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
    const unsigned less = a < b ? a : b;

    return less < c ? less : c;
}

/* How many insertions, deletions and replacements lead from a to b. */
static unsigned distance(const char *a, const char *b)
{
    const size_t size_a = strnlen(a, LENGTH_MAX);
    const size_t size_b = strnlen(b, LENGTH_MAX);
    unsigned row[LENGTH_MAX + 1];

    for (size_t j = 0; j <= size_b; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= size_a; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= size_b; j++) {
            const unsigned above = row[j];

            row[j] = smallest(above + 1, row[j - 1] + 1,
                              diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[size_b];
}

/* The group need not be said, nor the whole name. */
static unsigned farness(const char *name, const char *scenario)
{
    const char *const slash = strchr(scenario, '/');
    const unsigned whole = distance(name, scenario);
    const unsigned part = slash ? distance(name, slash + 1) : whole;

    if (strstr(scenario, name))
        return 0;
    return part < whole ? part : whole;
}

void otelkit_near_print(FILE *out, const char *program, const char *name)
{
    const struct otelctx_kit_scenario *one;
    const size_t third = strlen(name) / 3;
    const unsigned limit = third < 4 ? (unsigned)third : 4;
    unsigned shown = 0;

    (void)fprintf(out, "%s: no scenario \"%s\"", program, name);
    for (unsigned far = 0; far <= limit && shown < SHOWN_MAX; far++) {
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
