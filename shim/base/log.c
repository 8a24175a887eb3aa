/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/log.h"

#include <stdarg.h>

#include "shim/base/stderr.h"
#include "shim/base/sys.h"

enum {
    STDERR = 2,
    TEXT_MOST = 128 /* of one text */
};

/* One line, put together piece by piece and sent whole; what does not fit is
 * cut. */
struct line {
    size_t size;
    char text[480]; /* below PIPE_BUF: never split, never blocks after poll */
};

static enum otelctx_log_level threshold;
static struct otelctx_file_id file_at_start; /* all zero during the start */

/* Checked once, because libraries that are loaded later change the result. */
static enum {
    STDERR_UNCHECKED,
    STDERR_USABLE,
    STDERR_UNUSABLE
} state_of_stderr;

static bool is_stderr_usable(void)
{
    if (state_of_stderr == STDERR_UNCHECKED)
        state_of_stderr =
            otelctx_stderr_is_usable() ? STDERR_USABLE : STDERR_UNUSABLE;
    return state_of_stderr == STDERR_USABLE;
}

void otelctx_log_set_level(enum otelctx_log_level level)
{
    threshold = level;
}

void otelctx_log_end_start(void)
{
    if (threshold < OTELCTX_LOG_INFO || !is_stderr_usable() ||
        otelctx_sys_file_id(STDERR, &file_at_start))
        threshold = OTELCTX_LOG_NONE;
}

static bool is_another_file(void)
{
    struct otelctx_file_id now;

    return file_at_start.inode != 0 && (otelctx_sys_file_id(STDERR, &now) ||
                                        now.inode != file_at_start.inode ||
                                        now.device != file_at_start.device);
}

static void put_char(struct line *line, char c)
{
    const bool is_printable = c >= ' ' && c <= '~';

    /* One byte is reserved for the newline. */
    if (line->size < sizeof(line->text) - 1)
        line->text[line->size++] = is_printable ? c : '?';
}

static void put_span(struct line *line, struct otelctx_span text)
{
    const size_t size = text.size < TEXT_MOST ? text.size : TEXT_MOST;

    for (size_t i = 0; i < size; i++)
        put_char(line, text.at[i]);
    for (unsigned dots = size < text.size ? 3 : 0; dots > 0; dots--)
        put_char(line, '.');
}

static void put_text(struct line *line, const char *text)
{
    put_span(line, otelctx_span_from(text));
}

static void put_number(struct line *line, uint64_t number)
{
    char digits[20];
    size_t first = sizeof(digits);

    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (first < sizeof(digits))
        put_char(line, digits[first++]);
}

/* A pointer is passed as a number is, on all our machines. */
static void add(struct line *line, const char *format, va_list values)
{
    for (; *format; format++) {
        uintptr_t value;

        if (*format != '%') {
            put_char(line, *format);
            continue;
        }
        value = va_arg(values, uintptr_t);
        format++;
        if (*format == 'd' || (*format == 'o' && value != 0))
            put_number(line, value);
        else if (*format == 's')
            put_text(line, (const char *)value);
        else if (*format == 't')
            put_span(line, *(const struct otelctx_span *)value);
    }
}

static bool begin_line(struct line *line, enum otelctx_log_level level)
{
    static const char names[][6] = {
        [OTELCTX_LOG_ERROR] = "error",
        [OTELCTX_LOG_WARN] = "warn",
        [OTELCTX_LOG_INFO] = "info",
        [OTELCTX_LOG_DEBUG] = "debug",
    };

    if (level > threshold || !is_stderr_usable() || is_another_file())
        return false;
    line->size = 0;
    put_text(line, "otelctx[");
    put_number(line, (uint64_t)otelctx_sys_pid());
    put_text(line, "]: ");
    put_text(line, names[level]);
    put_text(line, ": ");
    return true;
}

void otelctx_log(enum otelctx_log_level level, const char *format, ...)
{
    struct line line;
    va_list values;

    if (!begin_line(&line, level))
        return;
    va_start(values, format);
    add(&line, format, values);
    va_end(values);
    line.text[line.size++] = '\n';
    otelctx_sys_write_stderr(line.text, line.size);
}
