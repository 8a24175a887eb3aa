/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/requests/labels.h"

enum {
    LONG_DIGITS = 16
};

void otelctx_labels_set(struct otelctx_labels *labels, enum otelctx_label which,
                        struct otelctx_span value)
{
    const size_t size =
        value.size < OTELCTX_LABEL_LIMIT ? value.size : OTELCTX_LABEL_LIMIT;

    labels->sizes[which] = 0;
    for (size_t i = 0; i < size; i++)
        if (value.at[i] < ' ' || value.at[i] > '~')
            return;
    memcpy(labels->text[which], value.at, size);
    labels->sizes[which] = (uint8_t)size;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does a segment like this differ from request to request? */
static bool varies(struct otelctx_span segment)
{
    bool decimal = segment.size > 0, hexadecimal = segment.size >= LONG_DIGITS;

    for (size_t i = 0; i < segment.size; i++) {
        const char c = segment.at[i];

        if (c >= '0' && c <= '9')
            continue;
        decimal = false;
        hexadecimal &= c == '-' || (is_letter(c) && (c | 0x20) <= 'f');
    }
    return decimal || hexadecimal;
}

static void set_route(struct otelctx_labels *labels, struct otelctx_span path)
{
    char route[OTELCTX_LABEL_LIMIT];
    size_t size = 0;

    while (path.size > 0 && size < sizeof(route)) {
        struct otelctx_span segment;

        route[size++] = '/';
        path.at++;
        path.size--;
        segment = (struct otelctx_span){path.at, path.size};
        segment = otelctx_span_cut(&segment, '/');
        path.at += segment.size;
        path.size -= segment.size;
        if (varies(segment))
            segment = OTELCTX_SPAN("*");
        if (segment.size > sizeof(route) - size)
            segment.size = sizeof(route) - size;
        memcpy(route + size, segment.at, segment.size);
        size += segment.size;
    }
    otelctx_labels_set(labels, OTELCTX_ROUTE,
                       (struct otelctx_span){route, size});
}

void otelctx_labels_set_target(struct otelctx_labels *labels,
                               struct otelctx_span target)
{
    struct otelctx_span path =
        otelctx_span_cut(&(struct otelctx_span){target.at, target.size}, '?');

    path = otelctx_span_cut(&path, '#');
    path = otelctx_span_cut(&path, ';');
    if (otelctx_span_begins(path, OTELCTX_SPAN("http://")) ||
        otelctx_span_begins(path, OTELCTX_SPAN("https://"))) {
        for (int i = 0; i < 3; i++)
            (void)otelctx_span_cut(&path, '/');
        path.at--;
        path.size++;
    }
    if (path.size == 0 || path.at[0] != '/')
        path.size = 0;
    otelctx_labels_set(labels, OTELCTX_PATH, path);
    set_route(labels, path);
}

void otelctx_labels_set_statement(struct otelctx_labels *labels,
                                  struct otelctx_span statement)
{
    size_t size = 0;

    statement = otelctx_span_strip(statement);
    while (size < statement.size && is_letter(statement.at[size]))
        size++;
    otelctx_labels_set(labels, OTELCTX_OPERATION,
                       (struct otelctx_span){statement.at, size});
}
