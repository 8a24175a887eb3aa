/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/show.h"

#include "demo/reader/escape.h"
#include "demo/reader/threads.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void otelread_complain(pid_t pid, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "otelctx-read: PID %d: %s\n", (int)pid, text);
}

/* OTEP 4719, "Payload Format": keys are unique. Said once a key. */
static void warn_duplicates(pid_t pid, const struct otelread_list *list,
                            const char *where)
{
    const struct otelread_node **const sorted = otelread_list_sort(list);
    char key[128];

    for (size_t i = 1; sorted != NULL && i < list->count; i++) {
        const struct otelread_span span = sorted[i]->key;

        if (!otelread_span_equal(span, sorted[i - 1]->key) ||
            (i > 1 && otelread_span_equal(span, sorted[i - 2]->key)))
            continue;
        otelread_escape_copy(key, sizeof(key), span.bytes, span.size);
        otelread_complain(pid, "key \"%s\" appears more than once in the %s",
                          key, where);
    }
    free(sorted);
}

static void warn(const struct otelread_report *report)
{
    const pid_t pid = report->target.pid;

    if (report->status != OTELREAD_OK)
        otelread_complain(pid, "%s", report->message);
    else if (otelread_threads_conclude(report) != OTELREAD_OK)
        otelread_complain(pid, "its threads: %s", report->threads->message);
    for (size_t i = 0; i < report->count; i++) {
        const struct otelread_decoded *const decoded =
            &report->contexts[i].decoded;

        warn_duplicates(pid, &decoded->resource, "resource");
        warn_duplicates(pid, &decoded->extra, "extra attributes");
    }
}

/* Rendered first, written in one piece then: a line of JSON is never half. */
static int render(const struct otelread_output *output,
                  const struct otelread_report *report, char **text,
                  size_t *size)
{
    FILE *const memory = open_memstream(text, size);

    if (memory == NULL)
        return -errno;
    output->print(memory, report);
    return fclose(memory) == 0 ? 0 : -errno;
}

static int emit(struct otelread_output *output, const char *text, size_t size)
{
    if (size == 0)
        return 0;
    if (output->apart && output->started)
        (void)fputc('\n', stdout);
    output->started = true;
    (void)fwrite(text, 1, size, stdout);
    return fflush(stdout) == 0 ? 0 : -errno;
}

void otelread_show(struct otelread_output *output,
                   const struct otelread_report *report)
{
    char *text = NULL;
    size_t size = 0;
    int error = render(output, report, &text, &size);

    if (error == 0)
        error = emit(output, text, size);
    free(text);
    warn(report);
    if (error == 0)
        return;
    (void)fprintf(stderr, "otelctx-read: cannot write: %s\n", strerror(-error));
    output->failed = true;
}
