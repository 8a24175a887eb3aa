/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/requests/sql.h"

enum {
    COMMENT_LIMIT = 2048, /* a longer comment is not looked at */
    VALUE_LIMIT = 128     /* of a value, decoded */
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* What is between the marks of the comment that ends the statement. */
static bool find_comment(struct otelctx_span statement,
                         struct otelctx_span *out)
{
    const char *const first = statement.at;
    const char *end = first + statement.size, *at;

    while (end > first && (is_blank(end[-1]) || end[-1] == ';' || !end[-1]))
        end--;
    if (end - first < 4 || end[-1] != '/' || end[-2] != '*')
        return false;
    end -= 2;
    for (at = end - 2; at[0] != '/' || at[1] != '*'; at--)
        if (at == first || end - at > COMMENT_LIMIT)
            return false;
    *out = (struct otelctx_span){at + 2, (size_t)(end - at) - 2};
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode(struct otelctx_span value, struct otelctx_span *out,
                   char room[VALUE_LIMIT])
{
    size_t size = 0;

    for (size_t i = 0; i < value.size; i++, size++) {
        if (size == VALUE_LIMIT)
            return false;
        room[size] = value.at[i];
        if (value.at[i] != '%')
            continue;
        if (value.size - i < 3 || hex_digit(value.at[i + 1]) < 0 ||
            hex_digit(value.at[i + 2]) < 0)
            return false;
        room[size] = (char)(hex_digit(value.at[i + 1]) << 4 |
                            hex_digit(value.at[i + 2]));
        i += 2;
    }
    *out = (struct otelctx_span){room, size};
    return true;
}

static void skip_blanks(struct otelctx_span *rest)
{
    while (rest->size > 0 && is_blank(rest->at[0]))
        rest->at++, rest->size--;
}

static bool is_key(struct otelctx_span key)
{
    static const char others[] = {'\'', '"', ',', '*', '/', '\\', '`', '#'};

    for (size_t i = 0; i < key.size; i++)
        if (is_blank(key.at[i]) || memchr(others, key.at[i], sizeof(others)))
            return false;
    return key.size > 0;
}

/* key='value' */
static bool take_pair(struct otelctx_span *rest, struct otelctx_span *key,
                      struct otelctx_span *value)
{
    skip_blanks(rest);
    if (!memchr(rest->at, '=', rest->size))
        return false;
    *key = otelctx_span_cut(rest, '=');
    if (!is_key(*key) || rest->size == 0 || rest->at[0] != '\'')
        return false;
    rest->at++;
    rest->size--;
    if (!memchr(rest->at, '\'', rest->size))
        return false;
    *value = otelctx_span_cut(rest, '\'');
    skip_blanks(rest);
    return !memchr(value->at, '\\', value->size);
}

/* What is asked of the comment. */
struct found {
    unsigned traces;
    struct otelctx_traceparent trace;
    struct otelctx_span route;
};

static bool take_comment(struct otelctx_span rest, struct found *found)
{
    struct otelctx_span key, value;
    struct otelctx_fault fault;
    char room[VALUE_LIMIT];

    do {
        if (!take_pair(&rest, &key, &value))
            return false;
        if (otelctx_span_equal(key, OTELCTX_SPAN("traceparent")) &&
            (found->traces++ > 0 || !decode(value, &value, room) ||
             otelctx_traceparent_parse(value, &found->trace, &fault)))
            return false;
        if (otelctx_span_equal(key, OTELCTX_SPAN("route")))
            found->route = value;
        if (rest.size > 0 && rest.at[0] != ',')
            return false;
    } while (rest.size > 0 && (rest.at++, rest.size--, true));
    return true;
}

bool otelctx_sql_trace(struct otelctx_span statement,
                       struct otelctx_traceparent *out,
                       struct otelctx_labels *labels)
{
    struct found found = {.traces = 0};
    struct otelctx_span comment, route;
    char room[VALUE_LIMIT];

    if (labels)
        otelctx_labels_set_statement(labels, statement);
    if (!find_comment(statement, &comment) || !take_comment(comment, &found))
        return false;
    if (labels && decode(found.route, &route, room))
        otelctx_labels_set(labels, OTELCTX_ROUTE, route);
    if (found.traces == 1)
        *out = found.trace;
    return found.traces == 1;
}
