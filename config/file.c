/* SPDX-License-Identifier: Apache-2.0 */
#include "config/file.h"

#include <errno.h>

static int parse_line(struct otelctx_span line, struct otelctx_span *name,
                      struct otelctx_span *value, struct otelctx_fault *fault)
{
    const struct otelctx_span text = otelctx_span_trim(line);
    struct otelctx_span after = text;
    const struct otelctx_span before =
        otelctx_span_trim(otelctx_span_cut(&after, '='));
    const char *nul = memchr(line.at, '\0', line.size);

    if (nul) {
        fault->pos = (size_t)(nul - line.at) + 1;
        fault->why = "expected no NUL character";
        return -EINVAL;
    }
    if (!memchr(text.at, '=', text.size) || before.size == 0) {
        fault->pos = (size_t)(text.at - line.at) + 1;
        fault->why = "expected NAME=value or a comment";
        return -EINVAL;
    }
    *name = before;
    *value = otelctx_span_trim(after);
    return 1;
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
        text = otelctx_span_trim(line);
        if (text.size > 0 && text.at[0] != '#')
            return parse_line(line, name, value, fault);
    }
    return 0;
}
