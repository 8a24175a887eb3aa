/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/pprof.h"

#include "demo/base/utf8.h"
#include "demo/top/output/buffer.h"
#include "demo/top/output/cells.h"
#include "demo/top/output/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Field numbers of profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STR = 2,
    LABEL_NUM = 3,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
};

/* ---- protobuf ----------------------------------------------------------- */

static void varint(FILE *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        (void)putc((int)(value & 0x7f) | 0x80, out);
    (void)putc((int)value, out);
}

static void number_write(FILE *out, unsigned field, uint64_t value)
{
    varint(out, field << 3);
    varint(out, value);
}

static void bytes_write(FILE *out, unsigned field, const void *data,
                        size_t size)
{
    varint(out, field << 3 | 2);
    varint(out, size);
    (void)fwrite(data, 1, size, out);
}

/* Strings are UTF-8: each other byte becomes U+FFFD. */
static void text_write(FILE *out, const char *value)
{
    const size_t size = strlen(value);
    uint32_t code;

    for (size_t at = 0; at < size;) {
        const size_t step =
            otelbase_utf8_next((const uint8_t *)value + at, size - at, &code);

        if (step > 0)
            (void)fwrite(value + at, 1, step, out);
        else
            (void)fputs("\xef\xbf\xbd", out);
        at += step > 0 ? step : 1;
    }
}

/* ---- the profile -------------------------------------------------------- */

struct profile {
    FILE *out;
    struct oteltop_names strings;
    struct oteltop_names
        frames; /* locations have the numbers of their functions */
    int error;
};

/* A message is written to memory first, because its size precedes it. */
static bool message_begin(struct profile *profile,
                          struct oteltop_buffer *message)
{
    const int error = oteltop_buffer_open(message);

    if (error != 0)
        profile->error = error;
    return error == 0;
}

static void message_end(struct profile *profile, struct oteltop_buffer *message,
                        FILE *out, unsigned field)
{
    const int error = oteltop_buffer_close(message);

    if (error != 0)
        profile->error = error;
    else
        bytes_write(out, field, message->data, message->size);
    free(message->data);
}

static void value_type(struct profile *profile, unsigned field,
                       const char *type, const char *unit)
{
    struct oteltop_buffer message;

    if (!message_begin(profile, &message))
        return;
    number_write(message.out, VALUE_TYPE_TYPE,
                 oteltop_names_number(&profile->strings, type));
    number_write(message.out, VALUE_TYPE_UNIT,
                 oteltop_names_number(&profile->strings, unit));
    message_end(profile, &message, profile->out, field);
}

static void label_text(struct profile *profile, FILE *out, const char *key,
                       const char *value)
{
    struct oteltop_buffer message;

    if (!value || !message_begin(profile, &message))
        return;
    number_write(message.out, LABEL_KEY,
                 oteltop_names_number(&profile->strings, key));
    number_write(message.out, LABEL_STR,
                 oteltop_names_number(&profile->strings, value));
    message_end(profile, &message, out, SAMPLE_LABEL);
}

static void label_number(struct profile *profile, FILE *out, const char *key,
                         uint64_t value)
{
    struct oteltop_buffer message;

    if (!message_begin(profile, &message))
        return;
    number_write(message.out, LABEL_KEY,
                 oteltop_names_number(&profile->strings, key));
    number_write(message.out, LABEL_NUM, value);
    message_end(profile, &message, out, SAMPLE_LABEL);
}

static void label_all(struct profile *profile, FILE *out,
                      const struct oteltop_attributes *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct oteltop_attribute *const one = &list->list[i];

        /* Of equal keys the last counts. */
        if (oteltop_attributes_find(list, one->key) == one->value)
            label_text(profile, out, one->key, one->value);
    }
}

static void labels(struct profile *profile, FILE *out,
                   const struct oteltop_cell *cell)
{
    const struct oteltop_process *const process = cell->thread->process;
    char room[OTELTOP_VALUE_SIZE];

    if (cell->span) {
        label_text(profile, out, "trace_id",
                   oteltop_dimension_value("trace", cell, room));
        label_text(profile, out, "span_id",
                   oteltop_dimension_value("span", cell, room));
    }
    label_all(profile, out, &process->resource);
    if (cell->span)
        label_all(profile, out, &cell->span->attributes);
    label_text(profile, out, "thread.name", cell->thread->name);
    label_text(profile, out, "thread.state",
               oteltop_dimension_value("state", cell, room));
    label_text(profile, out, "container", process->container);
    label_text(profile, out, "pod", process->pod);
    label_number(profile, out, "thread.id", (uint64_t)cell->thread->tid);
    label_number(profile, out, "process.pid", (uint64_t)process->pid);
}

/* The innermost frame comes first. */
static void sample_write(struct profile *profile,
                         const struct oteltop_cell *cell,
                         const struct oteltop_dimensions *by)
{
    char room[OTELTOP_VALUE_SIZE];
    struct oteltop_buffer message;

    if (!message_begin(profile, &message))
        return;
    for (size_t i = by->count; i-- > 0;)
        number_write(message.out, SAMPLE_LOCATION,
                     oteltop_names_number(
                         &profile->frames,
                         oteltop_dimension_value(by->names[i], cell, room)));
    number_write(message.out, SAMPLE_VALUE, cell->samples);
    number_write(message.out, SAMPLE_VALUE, cell->cpu_ns);
    number_write(message.out, SAMPLE_VALUE, cell->wall_ns);
    labels(profile, message.out, cell);
    message_end(profile, &message, profile->out, PROFILE_SAMPLE);
}

/* Writes a function and a location of the same number for each frame. */
static void frame(struct profile *profile, size_t id)
{
    struct oteltop_buffer function;
    struct oteltop_buffer location;
    struct oteltop_buffer line;

    if (!message_begin(profile, &function))
        return;
    number_write(function.out, FUNCTION_ID, id);
    number_write(
        function.out, FUNCTION_NAME,
        oteltop_names_number(&profile->strings, profile->frames.list[id]));
    message_end(profile, &function, profile->out, PROFILE_FUNCTION);
    if (!message_begin(profile, &location))
        return;
    number_write(location.out, LOCATION_ID, id);
    if (message_begin(profile, &line)) {
        number_write(line.out, LINE_FUNCTION, id);
        message_end(profile, &line, location.out, LOCATION_LINE);
    }
    message_end(profile, &location, profile->out, PROFILE_LOCATION);
}

static void string_table(struct profile *profile)
{
    for (size_t i = 0; i < profile->strings.count; i++) {
        struct oteltop_buffer message;

        if (!message_begin(profile, &message))
            return;
        text_write(message.out, profile->strings.list[i]);
        message_end(profile, &message, profile->out, PROFILE_STRING_TABLE);
    }
}

int oteltop_pprof_write(FILE *out, const struct oteltop_window *window,
                        const struct oteltop_dimensions *by,
                        uint64_t start_unix_ns)
{
    struct profile profile = {.out = out};
    struct oteltop_cells cells;

    profile.error = oteltop_cells_sort(&cells, window);
    value_type(&profile, PROFILE_SAMPLE_TYPE, "samples", "count");
    value_type(&profile, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
    value_type(&profile, PROFILE_SAMPLE_TYPE, "wall", "nanoseconds");
    for (size_t i = 0; i < cells.count; i++)
        sample_write(&profile, cells.list[i], by);
    for (size_t id = 1; id < profile.frames.count; id++)
        frame(&profile, id);
    number_write(out, PROFILE_TIME_NANOS, start_unix_ns);
    number_write(out, PROFILE_DURATION_NANOS,
                 window->end_ns - window->begin_ns);
    value_type(&profile, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
    number_write(out, PROFILE_DEFAULT_SAMPLE_TYPE,
                 oteltop_names_number(&profile.strings, "cpu"));
    string_table(&profile);
    if (profile.strings.is_short || profile.frames.is_short)
        profile.error = -ENOMEM;
    oteltop_names_free(&profile.strings);
    oteltop_names_free(&profile.frames);
    free(cells.list);
    return profile.error;
}
