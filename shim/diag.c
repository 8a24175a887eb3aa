/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/diag.h"

#include "shim/sys.h"

enum {
    STDERR = 2
};

static enum otelctx_log_level threshold;
static struct otelctx_file_id file; /* all zero: of no interest yet */

void otelctx_diag_set_level(enum otelctx_log_level level)
{
    threshold = level;
}

void otelctx_diag_end_start(void)
{
    if (threshold < OTELCTX_LOG_INFO || otelctx_sys_file_id(STDERR, &file))
        threshold = OTELCTX_LOG_NONE;
}

static bool is_another_file(void)
{
    struct otelctx_file_id now;

    return file.inode != 0 &&
           (otelctx_sys_file_id(STDERR, &now) || now.inode != file.inode ||
            now.device != file.device);
}

static void put(struct otelctx_line *line, char c)
{
    const bool plain = c >= ' ' && c <= '~';

    /* One byte is kept for the newline. */
    if (line->size < sizeof(line->text) - 1)
        line->text[line->size++] = plain ? c : '?';
}

void otelctx_line_span(struct otelctx_line *line, struct otelctx_span text)
{
    for (size_t i = 0; i < text.size; i++)
        put(line, text.at[i]);
}

void otelctx_line_text(struct otelctx_line *line, const char *text)
{
    otelctx_line_span(line, otelctx_span_from(text));
}

void otelctx_line_number(struct otelctx_line *line, uint64_t number)
{
    char digits[20];
    size_t first = sizeof(digits);

    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    otelctx_line_span(
        line, (struct otelctx_span){digits + first, sizeof(digits) - first});
}

void otelctx_line_errno(struct otelctx_line *line, int err)
{
    otelctx_line_text(line, " (errno ");
    otelctx_line_number(line, (uint64_t)-err);
    otelctx_line_text(line, ")");
}

bool otelctx_line_begin(struct otelctx_line *line, enum otelctx_log_level level)
{
    static const char names[][6] = {
        [OTELCTX_LOG_ERROR] = "error",
        [OTELCTX_LOG_WARN] = "warn",
        [OTELCTX_LOG_INFO] = "info",
        [OTELCTX_LOG_DEBUG] = "debug",
    };

    if (level > threshold || is_another_file())
        return false;
    line->size = 0;
    otelctx_line_text(line, "otelctx[");
    otelctx_line_number(line, (uint64_t)otelctx_sys_pid());
    otelctx_line_text(line, "]: ");
    otelctx_line_text(line, names[level]);
    otelctx_line_text(line, ": ");
    return true;
}

void otelctx_line_send(struct otelctx_line *line)
{
    line->text[line->size++] = '\n';
    otelctx_sys_write_stderr(line->text, line->size);
}

void otelctx_line_tell(enum otelctx_log_level level, const char *text)
{
    struct otelctx_line line;

    if (!otelctx_line_begin(&line, level))
        return;
    otelctx_line_text(&line, text);
    otelctx_line_send(&line);
}
