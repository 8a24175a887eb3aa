/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/table.h"

#include "demo/base/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERVICE_KEY "service.name"

enum column {
    PID,
    COMMAND,
    SERVICE,
    THREADS,
    ATTACHED,
    COLUMNS
};

/* Cells are escaped; a longer text ends in "...". */
struct otelread_row {
    char cells[COLUMNS][128];
};

static const struct otelread_row header = {.cells = {
                                               [PID] = "PID",
                                               [COMMAND] = "COMMAND",
                                               [SERVICE] = "SERVICE",
                                               [THREADS] = "THREADS",
                                               [ATTACHED] = "ATTACHED",
                                           }};

/* ---- a row -------------------------------------------------------------- */

static void number_set(char *cell, size_t number)
{
    (void)snprintf(cell, sizeof(header.cells[0]), "%zu", number);
}

static void text_set(char *cell, const void *text, size_t size)
{
    otelbase_escape_copy(cell, sizeof(header.cells[0]), text, size);
}

/* Of several, the last. */
static void service_set(char *cell, const struct otelread_contexts *contexts)
{
    const struct otelread_span key = {(const uint8_t *)SERVICE_KEY,
                                      sizeof(SERVICE_KEY) - 1};

    text_set(cell, "-", 1);
    for (const struct otelread_node *node =
             contexts->list[0].decoded.resource.first;
         node; node = node->next) {
        if (node->kind == OTELREAD_STRING &&
            otelread_span_equal(node->key, key))
            text_set(cell, node->span.bytes, node->span.size);
    }
}

/* "-" when there is no way to know, "+" behind what is only part of it. */
static void attached_set(char *cell, const struct otelread_threads *threads)
{
    size_t attached = 0;
    bool all = true;

    text_set(cell, "-", 1);
    if (!threads ||
        (threads->status != OTELREAD_THREADS_OK && threads->sample.count == 0))
        return;
    for (size_t i = 0; i < threads->sample.count; i++) {
        const struct otelread_thread *const thread =
            &threads->sample.threads[i];

        attached += otelread_thread_is_attached(thread) ||
                            otelread_storages_attached(&thread->storages)
                        ? 1
                        : 0;
        all = all && thread->status != OTELREAD_THREAD_NOT_STOPPED &&
              thread->status != OTELREAD_THREAD_NO_PERMISSION &&
              thread->status != OTELREAD_THREAD_BUSY &&
              thread->status != OTELREAD_THREAD_ERROR;
    }
    if (attached > 0 || all)
        (void)snprintf(cell, sizeof(header.cells[0]), "%zu%s", attached,
                       all ? "" : "+");
}

int otelread_table_add(struct otelread_table *table,
                       const struct otelread_report *report, size_t threads)
{
    const char *const command = report->target.command;

    if (report->status != OTELREAD_OK && report->status != OTELREAD_SEVERAL)
        return 0;
    if (table->count == table->room) {
        const size_t room = table->room == 0 ? 64 : 2 * table->room;
        struct otelread_row *const rows =
            realloc(table->rows, room * sizeof(*rows));

        if (!rows)
            return -ENOMEM;
        table->rows = rows;
        table->room = room;
    }

    struct otelread_row *const row = &table->rows[table->count++];
    number_set(row->cells[PID], (size_t)report->target.pid);
    text_set(row->cells[COMMAND], command, strlen(command));
    service_set(row->cells[SERVICE], &report->contexts);
    number_set(row->cells[THREADS], threads);
    attached_set(row->cells[ATTACHED], report->threads);
    return 0;
}

/* ---- all of them -------------------------------------------------------- */

/* In characters: bytes that do not continue one. */
static size_t width_of(const char *cell)
{
    size_t width = 0;

    for (; *cell != '\0'; cell++)
        width += ((unsigned char)*cell & 0xc0) != 0x80 ? 1 : 0;
    return width;
}

static void row_print(FILE *out, const struct otelread_row *row,
                      const size_t widths[COLUMNS])
{
    for (unsigned i = 0; i < COLUMNS; i++) {
        const char *const cell = row->cells[i];
        const int padding = (int)(widths[i] - width_of(cell));
        const bool is_text = i == COMMAND || i == SERVICE;

        (void)fprintf(out, "%s%*s%s%*s", i == 0 ? "" : "  ",
                      is_text ? 0 : padding, "", cell, is_text ? padding : 0,
                      "");
    }
    (void)fputc('\n', out);
}

void otelread_table_print(FILE *out, const struct otelread_table *table)
{
    size_t widths[COLUMNS];

    if (table->count == 0)
        return;
    for (unsigned i = 0; i < COLUMNS; i++) {
        widths[i] = width_of(header.cells[i]);
        for (size_t j = 0; j < table->count; j++) {
            const size_t width = width_of(table->rows[j].cells[i]);

            widths[i] = width > widths[i] ? width : widths[i];
        }
    }
    row_print(out, &header, widths);
    for (size_t j = 0; j < table->count; j++)
        row_print(out, &table->rows[j], widths);
}

void otelread_table_free(struct otelread_table *table)
{
    free(table->rows);
    *table = (struct otelread_table){.count = 0};
}
