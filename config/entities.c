/* SPDX-License-Identifier: Apache-2.0 */
#include "config/entities.h"

#include <errno.h>

static bool is_letter(char c)
{
    c |= 0x20;
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_in(char c, struct otelctx_span set)
{
    return memchr(set.at, c, set.size);
}

/* Take a letter and the letters, digits and characters of `others` after it. */
static struct otelctx_span take_name(struct otelctx_span *rest,
                                     struct otelctx_span others)
{
    struct otelctx_span name = {rest->at, 0};

    while (rest->size > 0 && (is_letter(*rest->at) ||
                              (name.size > 0 && (is_digit(*rest->at) ||
                                                 is_in(*rest->at, others)))))
        name.size++, rest->at++, rest->size--;
    return name;
}

static bool take_char(struct otelctx_span *rest, char c)
{
    if (rest->size == 0 || *rest->at != c)
        return false;
    rest->at++, rest->size--;
    return true;
}

#define NAME_OTHERS OTELCTX_SPAN("._-")
#define NAME        "a name, which begins with a letter"

/* Take a list and the `end` after it. Returns NULL, or what was expected at the
 * start of the rest. */
static const char *take_list(struct otelctx_span *rest, char end,
                             const struct otelctx_entity *entity,
                             unsigned *names, struct otelctx_span *list)
{
    list->at = rest->at;
    do {
        struct otelctx_span after = *rest;
        const struct otelctx_span name = take_name(&after, NAME_OTHERS);

        if (name.size == 0)
            return NAME;
        if (otelctx_entities_has(entity->ids, name) ||
            otelctx_entities_has(entity->descriptions, name))
            return "a name that this entity does not have yet";
        if ((*names)++ == OTELCTX_ENTITY_NAMES_MAX)
            return "at most 64 attributes of an entity";
        *rest = after;
        if (!take_char(rest, '='))
            return "'=' after the name";
        while (rest->size > 0 && !is_in(*rest->at, OTELCTX_SPAN("{}[]@;,=")))
            rest->at++, rest->size--;
        list->size = (size_t)(rest->at - list->at);
    } while (take_char(rest, ','));
    if (take_char(rest, end))
        return NULL;
    return end == '}' ? "',' or '}'" : "',' or ']'";
}

static const char *parse_entity(struct otelctx_span *rest,
                                struct otelctx_entity *out)
{
    const char *why = NULL;
    unsigned names = 0;

    out->type = take_name(rest, NAME_OTHERS);
    if (out->type.size == 0)
        return NAME;
    if (!take_char(rest, '{'))
        return "'{' after the type";
    why = take_list(rest, '}', out, &names, &out->ids);
    if (!why && take_char(rest, '['))
        why = take_list(rest, ']', out, &names, &out->descriptions);
    if (why)
        return why;
    if (take_char(rest, '@')) {
        out->schema_url = *rest;
        return NULL;
    }
    return rest->size > 0 ? "'[', '@' or ';'" : NULL;
}

/* Cut the text after the last `begin`, and that character, off `rest`. */
static struct otelctx_span cut_last(struct otelctx_span *rest, char begin)
{
    size_t at = rest->size;
    struct otelctx_span tail;

    while (at > 0 && rest->at[at - 1] != begin)
        at--;
    tail = (struct otelctx_span){rest->at + at, rest->size - at};
    rest->size = at > 0 ? at - 1 : 0;
    return tail;
}

int otelctx_entities_take(struct otelctx_span *text, struct otelctx_entity *out,
                          struct otelctx_fault *fault)
{
    struct otelctx_span rest = {text->at, 0};

    while (rest.size == 0 && text->size > 0)
        rest = cut_last(text, ';');
    if (rest.size == 0)
        return 0;
    *out = (struct otelctx_entity){.ids = {0}};
    fault->why = parse_entity(&rest, out);
    fault->pos = (size_t)(rest.at - text->at) + 1;
    return fault->why ? -EINVAL : 1;
}

struct otelctx_span otelctx_entities_take_member(struct otelctx_span *list)
{
    return cut_last(list, ',');
}

bool otelctx_entities_has(struct otelctx_span list, struct otelctx_span name)
{
    while (list.size > 0) {
        struct otelctx_span member = otelctx_span_cut(&list, ',');

        if (otelctx_span_equal(otelctx_span_cut(&member, '='), name))
            return true;
    }
    return false;
}

bool otelctx_entities_is_uri(struct otelctx_span text)
{
    if (take_name(&text, OTELCTX_SPAN("+-.")).size == 0 ||
        !take_char(&text, ':'))
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (text.at[i] <= ' ' || text.at[i] > '~' ||
            is_in(text.at[i], OTELCTX_SPAN("\"<>\\^`{|}")))
            return false;
    return true;
}
