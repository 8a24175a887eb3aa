/* SPDX-License-Identifier: Apache-2.0 */
#include "config/file.h"

#include <errno.h>

/* Parse one line; text is that line without the blanks at both ends. */
static int parse_line(struct otelctx_span line, struct otelctx_span text,
                      struct otelctx_span *name, struct otelctx_span *value,
                      struct otelctx_fault *fault)
{
    struct otelctx_span after = text;
    const struct otelctx_span before =
        otelctx_span_trim(otelctx_span_cut(&after, '='));
    const bool has_equals_sign = after.at[-1] == '=';
    const char *at = memchr(line.at, '\0', line.size);
    const char *why = "no NUL character";

    after = otelctx_span_trim(after);
    if (at) {
        ;
    } else if (before.size == 0 || !has_equals_sign) {
        at = text.at;
        why = "NAME=value or a comment";
    } else if (after.size > 0 && (*after.at == '"' || *after.at == '\'')) {
        at = after.at;
        why = "a value without quotes";
    } else {
        *name = before;
        *value = after;
        return 1;
    }
    fault->pos = (size_t)(at - line.at) + 1;
    fault->why = why;
    return -EINVAL;
}

int otelctx_file_next(struct otelctx_file *file, struct otelctx_span *name,
                      struct otelctx_span *value, struct otelctx_fault *fault)
{
    while (file->rest.size > 0) {
        struct otelctx_span line = otelctx_span_cut(&file->rest, '\n');
        struct otelctx_span text;

        file->line++;
        if (line.size > 0 && line.at[line.size - 1] == '\r')
            line.size--;
        file->text = line;
        text = otelctx_span_trim(line);
        if (text.size > 0 && text.at[0] != '#')
            return parse_line(line, text, name, value, fault);
    }
    return 0;
}
