/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/nearest.h"

#include "config/options.h"

#include <ctype.h>

/* Longer names are not compared: no option has half as many bytes. */
#define NAME_MAX_SIZE 64

static int upper(char c)
{
    return toupper((unsigned char)c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * How many bytes to insert, delete or replace, to make one text the other
 * (Levenshtein's distance), in any case. b has at most NAME_MAX_SIZE bytes.
 */
static size_t distance(struct otelctx_span a, struct otelctx_span b)
{
    size_t row[NAME_MAX_SIZE + 1];

    for (size_t j = 0; j <= b.size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            const bool same = upper(a.at[i - 1]) == upper(b.at[j - 1]);
            const size_t replaced = diagonal + (same ? 0 : 1);

            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b.size];
}

/* Whether the option is that name with OTEL_ or OTELCTX_ in front. */
static bool lacks_prefix(struct otelctx_span name, struct otelctx_span option)
{
    const struct otelctx_span end = {option.at + (option.size - name.size),
                                     name.size};

    return option.size > name.size && end.at[-1] == '_' &&
           distance(name, end) == 0;
}

static bool is_of_files(enum otelctx_option_id id)
{
    return id != OTELCTX_OPTION_CONFIG_FILE &&
           id != OTELCTX_OPTION_TRACEPARENT && id != OTELCTX_OPTION_EXPORTED_ID;
}

const char *otelread_nearest_option(struct otelctx_span name)
{
    const char *nearest = NULL;
    size_t best = name.size / 3 + 1;

    if (name.size == 0 || name.size > NAME_MAX_SIZE)
        return NULL;
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const char *const text = otelctx_option_name(id);
        const struct otelctx_span option = otelctx_span_from(text);
        const size_t far =
            lacks_prefix(name, option) ? 0 : distance(option, name);

        if (is_of_files(id) && far < best) {
            nearest = text;
            best = far;
        }
    }
    return nearest;
}
