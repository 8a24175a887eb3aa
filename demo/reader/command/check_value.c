/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/check_value.h"

#include "config/attrs.h"
#include "config/file.h"
#include "config/glob.h"
#include "config/limits.h"
#include "shim/wire/thread.h"

#include <errno.h>

static int fail(size_t pos, const char *why, struct otelctx_fault *fault)
{
    *fault = (struct otelctx_fault){.pos = pos, .why = why};
    return -EINVAL;
}

static int check_attributes(struct otelctx_span text,
                            struct otelctx_fault *fault)
{
    static char scratch[OTELCTX_FILE_MAX];
    struct otelctx_attrs attributes =
        otelctx_attrs_begin(text, scratch, sizeof(scratch));
    struct otelctx_pair pair;
    int got;

    while ((got = otelctx_attrs_next(&attributes, &pair, fault)) > 0) {
        if (otelctx_span_begins(pair.key, OTELCTX_SPAN("threadlocal.")))
            return fail(pair.pos,
                        "a key that does not begin with "
                        "\"threadlocal.\"",
                        fault);
    }
    return got < 0 ? -EINVAL : 0;
}

/* A name that appears twice is one key. */
static int check_keys(struct otelctx_span text, struct otelctx_fault *fault)
{
    struct otelctx_span keys[OTELCTX_KEYS_MAX];
    struct otelctx_span rest = text;
    size_t count = 0;

    while (rest.size > 0) {
        const struct otelctx_span key =
            otelctx_span_trim(otelctx_span_cut(&rest, ','));
        size_t at = 0;

        while (at < count && !otelctx_span_equal(keys[at], key))
            at++;
        if (key.size == 0 || at < count)
            continue;
        if (count == OTELCTX_KEYS_MAX)
            return fail((size_t)(key.at - text.at) + 1, "at most 256 keys",
                        fault);
        keys[count++] = key;
    }
    return 0;
}

int otelread_check_value(enum otelctx_option_id id, struct otelctx_span value,
                         struct otelctx_fault *fault)
{
    struct otelctx_options options;

    if (value.size == 0)
        return 0; /* unset */
    if (otelctx_options_apply(&options, id, value, fault) != 0)
        return -EINVAL;
    if (id == OTELCTX_OPTION_RESOURCE_ATTRIBUTES ||
        id == OTELCTX_OPTION_EXTRA_ATTRIBUTES)
        return check_attributes(value, fault);
    if (id == OTELCTX_OPTION_ATTRIBUTE_KEYS)
        return check_keys(value, fault);
    if (id == OTELCTX_OPTION_SCHEMA_VERSION && value.size > OTELCTX_SCHEMA_MAX)
        return fail(OTELCTX_SCHEMA_MAX + 1, OTELCTX_SCHEMA_EXPECTS, fault);
    return 0;
}

static bool warn_of_patterns(struct otelctx_span text,
                             struct otelctx_fault *fault)
{
    struct otelctx_span rest = text;

    while (rest.size > 0) {
        const struct otelctx_span pattern =
            otelctx_span_trim(otelctx_span_cut(&rest, ','));

        if (pattern.size == 0 || otelctx_glob_may_match_file(pattern))
            continue;
        (void)fail((size_t)(pattern.at - text.at) + 1,
                   "this pattern matches nothing: the path of a program begins "
                   "with \"/\", and does not end in it",
                   fault);
        return true;
    }
    return false;
}

bool otelread_doubt_value(enum otelctx_option_id id, struct otelctx_span value,
                          struct otelctx_fault *fault)
{
    if (id == OTELCTX_OPTION_INCLUDE_PATHS ||
        id == OTELCTX_OPTION_EXCLUDE_PATHS)
        return warn_of_patterns(value, fault);
    if (id == OTELCTX_OPTION_SCHEMA_VERSION && value.size > 0 &&
        !otelctx_glob_find(OTELCTX_SPAN(OTELCTX_KNOWN_SCHEMAS), value).at) {
        (void)fail(1, "no reader knows this schema, but " OTELCTX_KNOWN_SCHEMAS,
                   fault);
        return true;
    }
    return false;
}
