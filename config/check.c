/* SPDX-License-Identifier: Apache-2.0 */
#include "config/check.h"

#include <errno.h>

#include "config/attrs.h"
#include "config/entities.h"
#include "config/file.h"
#include "config/glob.h"
#include "config/limits.h"
#include "config/traceparent.h"

static char scratch[OTELCTX_FILE_MAX]; /* as large as a payload */

static int fail(struct otelctx_span text, const char *at, const char *why,
                struct otelctx_fault *fault)
{
    *fault = (struct otelctx_fault){(size_t)(at - text.at) + 1, why};
    return -EINVAL;
}

static int check_attributes(struct otelctx_span text,
                            struct otelctx_fault *fault)
{
    struct otelctx_attrs it =
        otelctx_attrs_begin(text, scratch, sizeof(scratch));
    struct otelctx_pair pair;
    int got;

    while ((got = otelctx_attrs_next(&it, &pair, fault)) > 0)
        if (otelctx_span_begins(pair.key, OTELCTX_SPAN("threadlocal.")))
            return fail(text, text.at + pair.pos - 1,
                        "a key that does not begin with \"threadlocal.\"",
                        fault);
    return got < 0 ? -EINVAL : 0;
}

/* A list of an entity in the text. */
static int check_members(struct otelctx_span text, struct otelctx_span list,
                         struct otelctx_fault *fault)
{
    if (list.size == 0 || check_attributes(list, fault) == 0)
        return 0;
    fault->pos += (size_t)(list.at - text.at);
    return -EINVAL;
}

/* The first fault: entities are taken from the last one on. */
static int check_entities(struct otelctx_span text, struct otelctx_fault *fault)
{
    struct otelctx_span rest = text;
    struct otelctx_entity entity;
    struct otelctx_fault found;
    int err = 0, count = 0, got;

    while ((got = otelctx_entities_take(&rest, &entity, &found)) != 0) {
        if (got > 0 && count++ == OTELCTX_ENTITIES_MAX)
            return fail(text, entity.type.at, OTELCTX_ENTITIES_EXPECTS, fault);
        if (got < 0 || check_members(text, entity.ids, &found) ||
            check_members(text, entity.descriptions, &found)) {
            *fault = found;
            err = -EINVAL;
        }
    }
    return err;
}

/* A name that appears twice is one key. */
static int check_key_list(struct otelctx_span text, struct otelctx_fault *fault)
{
    struct otelctx_span keys[OTELCTX_ATTRIBUTE_KEYS_MAX];
    struct otelctx_span rest = text, key;
    size_t count = 0;

    while ((key = otelctx_span_member(&rest)).size > 0) {
        size_t at = 0;

        while (at < count && !otelctx_span_equal(keys[at], key))
            at++;
        if (at < count)
            continue;
        if (count == OTELCTX_ATTRIBUTE_KEYS_MAX)
            return fail(text, key.at, "at most 256 keys", fault);
        keys[count++] = key;
    }
    return 0;
}

int otelctx_check_value(enum otelctx_option_id id, struct otelctx_span value,
                        struct otelctx_fault *fault)
{
    struct otelctx_traceparent parent;
    struct otelctx_options options;

    if (value.size == 0)
        return 0; /* unset */
    if (otelctx_options_apply(&options, id, value, fault) != 0)
        return -EINVAL;
    switch ((unsigned)otelctx_option_kind(id)) {
    case OTELCTX_KIND_ATTRIBUTES:
        return check_attributes(value, fault);
    case OTELCTX_KIND_ENTITIES:
        return check_entities(value, fault);
    case OTELCTX_KIND_KEYS:
        return check_key_list(value, fault);
    case OTELCTX_KIND_TRACEPARENT:
        return otelctx_traceparent_parse(value, &parent, fault);
    case OTELCTX_KIND_SCHEMA:
        if (value.size > OTELCTX_SCHEMA_MAX)
            return fail(value, value.at + OTELCTX_SCHEMA_MAX,
                        OTELCTX_SCHEMA_EXPECTS, fault);
        return 0;
    default:
        return 0;
    }
}

static bool doubt_patterns(struct otelctx_span text,
                           struct otelctx_fault *fault)
{
    struct otelctx_span rest = text, pattern;

    while ((pattern = otelctx_span_member(&rest)).size > 0)
        if (!otelctx_glob_may_match_file(pattern))
            return fail(text, pattern.at,
                        "this pattern matches nothing: the path of a program "
                        "begins with \"/\", and does not end in it",
                        fault);
    return false;
}

/* The first control character, or NULL. */
static const char *find_control(struct otelctx_span text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == '\x7f')
            return text.at + i;
    return NULL;
}

/* White space around keys and values is gone, also line breaks. */
static bool doubt_attributes(struct otelctx_span text,
                             struct otelctx_fault *fault)
{
    struct otelctx_attrs it =
        otelctx_attrs_begin(text, scratch, sizeof(scratch));
    struct otelctx_pair pair;

    while (otelctx_attrs_next(&it, &pair, fault) > 0)
        if (find_control(pair.key) || find_control(pair.value))
            return fail(text, text.at + pair.pos - 1,
                        "this attribute has a control character", fault);
    return false;
}

bool otelctx_check_doubt(enum otelctx_option_id id, struct otelctx_span value,
                         struct otelctx_fault *fault)
{
    const char *at;

    switch ((unsigned)otelctx_option_kind(id)) {
    case OTELCTX_KIND_GLOBS:
        return doubt_patterns(value, fault);
    case OTELCTX_KIND_ATTRIBUTES:
        return doubt_attributes(value, fault);
    case OTELCTX_KIND_UTF8:
        at = find_control(value);
        return at && fail(value, at, "a control character", fault);
    case OTELCTX_KIND_SCHEMA:
        return value.size > 0 &&
               !otelctx_glob_find(OTELCTX_SPAN(OTELCTX_KNOWN_SCHEMAS), value)
                    .at &&
               fail(value, value.at,
                    "no reader knows this schema, but " OTELCTX_KNOWN_SCHEMAS,
                    fault);
    default:
        return false;
    }
}

const char *otelctx_check_keys(const struct otelctx_options *options)
{
    if (!(options->thread_storage & OTELCTX_STORAGE_TLS))
        return "no keys: only OTELCTX_THREAD_STORAGE tls has them";
    if (otelctx_span_equal(options->schema_version,
                           OTELCTX_SPAN(OTELCTX_GO_SCHEMA)))
        return "no keys: this OTELCTX_SCHEMA_VERSION has none";
    return NULL;
}
