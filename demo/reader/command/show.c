/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/show.h"

#include "demo/base/escape.h"
#include "demo/base/flush.h"
#include "demo/reader/os/permission.h"
#include "demo/reader/os/processes.h"
#include "demo/reader/payload/list.h"
#include "demo/reader/report/threads.h"

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
    (void)fprintf(stderr, "%s: PID %d: %s\n", program_invocation_short_name,
                  (int)pid, text);
}

/* OTEP 4719, "Payload Format": keys are unique. Warns once for each key. */
static void warn_duplicates(pid_t pid, const struct otelread_list *list,
                            const char *where)
{
    const struct otelread_node **const sorted = otelread_list_sort(list);
    char key[128];

    for (size_t i = 1; sorted && i < list->count; i++) {
        const struct otelread_span span = sorted[i]->key;

        if (!otelread_span_equal(span, sorted[i - 1]->key) ||
            (i > 1 && otelread_span_equal(span, sorted[i - 2]->key)))
            continue;
        otelbase_escape_copy(key, sizeof(key), span.bytes, span.size);
        otelread_complain(pid, "key \"%s\" appears more than once in the %s",
                          key, where);
    }
    free(sorted);
}

static bool has_key(const struct otelread_list *attributes,
                    struct otelread_span key)
{
    for (const struct otelread_node *node = attributes->first; node;
         node = node->next) {
        if (otelread_span_equal(node->key, key))
            return true;
    }
    return false;
}

/* Returns whether there was something to say. */
static bool warn_keys(pid_t pid, const struct otelread_decoded *decoded,
                      const char *type, const struct otelread_list *keys)
{
    char key[128];

    for (const struct otelread_node *node = keys->first; node;
         node = node->next) {
        if (has_key(&decoded->resource, node->span))
            continue;
        otelbase_escape_copy(key, sizeof(key), node->span.bytes,
                             node->span.size);
        otelread_complain(pid,
                          "entity \"%s\": the resource has no attribute \"%s\"",
                          type, key);
        return true;
    }
    return false;
}

/* OTLP, EntityRef: what its comments demand. The first offence is told. */
static void warn_entities(pid_t pid, const struct otelread_decoded *decoded)
{
    char type[128];
    bool warned = false;

    for (size_t i = 0; i < decoded->entities_count && !warned; i++) {
        const struct otelread_entity *const entity = &decoded->entities[i];

        otelbase_escape_copy(type, sizeof(type), entity->type.bytes,
                             entity->type.size);
        warned = entity->type.size == 0 || entity->id_keys.count == 0;
        if (warned)
            otelread_complain(pid, "entity \"%s\" has no %s", type,
                              entity->type.size == 0 ? "type" : "id key");
        else
            warned = warn_keys(pid, decoded, type, &entity->id_keys) ||
                     warn_keys(pid, decoded, type, &entity->description_keys);
    }
}

static void warn(const struct otelread_report *report)
{
    const pid_t pid = report->target.pid;

    if (report->status != OTELREAD_OK)
        otelread_complain(pid, "%s", report->message);
    else if (otelread_report_exit_status(report) != OTELREAD_OK)
        otelread_complain(pid, "its threads: %s", report->threads->message);
    if (report->status == OTELREAD_NO_PERMISSION)
        otelread_complain(pid, "%s", otelread_permission_advice(pid));
    for (size_t i = 0; i < report->contexts.count; i++) {
        const struct otelread_context *const context =
            &report->contexts.list[i];
        const struct otelread_decoded *const decoded = &context->decoded;

        if (context->status == OTELREAD_OK &&
            context->layout != OTELREAD_LAYOUT_ACCEPTED)
            otelread_complain(pid,
                              "its context has an older form (%s), which other "
                              "readers may refuse",
                              otelread_layout_name(context->layout));
        warn_duplicates(pid, &decoded->resource, "resource");
        warn_duplicates(pid, &decoded->extra, "extra attributes");
        warn_entities(pid, decoded);
    }
}

/* Formats into memory first, so that a line of JSON is written as a whole. */
static int render(const struct otelread_output *output,
                  const struct otelread_report *report, char **text,
                  size_t *size)
{
    FILE *const memory = open_memstream(text, size);

    if (!memory)
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
    if (fwrite(text, 1, size, stdout) < size)
        return -errno;
    return -otelbase_flush(stdout);
}

static int add_row(struct otelread_table *table,
                   const struct otelread_report *report)
{
    pid_t *tids;
    size_t count;

    (void)otelread_threads_list(report->target.pid, &tids, &count);
    free(tids);
    return otelread_table_add(table, report, count);
}

static int print(struct otelread_output *output,
                 const struct otelread_report *report)
{
    char *text = NULL;
    size_t size = 0;
    int error = render(output, report, &text, &size);

    if (error == 0)
        error = emit(output, text, size);
    free(text);
    return error;
}

static void note_failure(struct otelread_output *output, int error)
{
    (void)fprintf(stderr, "otelctx-read: cannot write: %s\n", strerror(error));
    output->failed = true;
}

void otelread_show_text(struct otelread_output *output, const char *text,
                        size_t size)
{
    const int error = emit(output, text, size);

    if (error != 0)
        note_failure(output, -error);
}

void otelread_show(struct otelread_output *output,
                   const struct otelread_report *report)
{
    const int error =
        output->table ? add_row(output->table, report) : print(output, report);

    warn(report);
    if (error != 0)
        note_failure(output, -error);
}
