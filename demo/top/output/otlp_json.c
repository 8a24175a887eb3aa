/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/otlp_json.h"

#include "demo/base/json_writer.h"
#include "demo/top/output/buffer.h"
#include "demo/top/output/cells.h"
#include "demo/top/output/dictionary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * The collector's file receiver takes lines of up to 1 MiB, unless its
 * max_log_size says more. A line ends with the sample that comes to this size.
 */
#define LINE_SIZE ((size_t)768 << 10)

/* One ProfilesData. */
struct line {
    const struct oteltop_dimensions *by;
    uint64_t start_unix_ns;
    uint64_t duration_ns;
    bool wall;
    struct oteltop_dictionary dictionary;
    struct oteltop_buffer resources;
    struct otelbase_json json; /* writes them */
    int error;
};

static bool open_json(struct line *line, struct oteltop_buffer *buffer,
                      struct otelbase_json *json)
{
    const int error = oteltop_buffer_open(buffer);

    if (error != 0)
        line->error = error;
    *json = (struct otelbase_json){.out = buffer->out};
    return error == 0;
}

static void close_json(struct line *line, struct oteltop_buffer *buffer)
{
    const int error = oteltop_buffer_close(buffer);

    if (error != 0)
        line->error = error;
}

static void index_write(struct otelbase_json *json, const char *key,
                        size_t index)
{
    otelbase_json_key(json, key);
    otelbase_json_literal(json, "%zu", index);
}

/* Keys are unique and not empty: of equal ones the last counts. */
static bool counts(const struct oteltop_attributes *list,
                   const struct oteltop_attribute *one)
{
    return one->key[0] != '\0' &&
           oteltop_attributes_find(list, one->key) == one->value;
}

/* ---- samples ------------------------------------------------------------ */

/* The samples of one process. Samples that differ only in their numbers become
 * one. */
struct samples {
    struct oteltop_buffer cpu;
    struct oteltop_buffer wall;
    struct otelbase_json cpu_json;
    struct otelbase_json wall_json;
    char *identity; /* the start of the sample's JSON, or NULL; its numbers
                       follow */
    uint64_t cpu_ns;
    uint64_t wall_ns;
};

static void attribute(struct line *line, struct otelbase_json *json,
                      const char *key, const char *text, uint64_t number)
{
    otelbase_json_literal(
        json, "%zu",
        oteltop_dictionary_attribute(&line->dictionary, key, text, number));
}

/* The program's own attributes take precedence. */
static void attributes(struct line *line, struct otelbase_json *json,
                       const struct oteltop_cell *cell)
{
    static const struct oteltop_attributes none;
    const struct oteltop_attributes *const own =
        cell->span ? &cell->span->attributes : &none;
    const char state[] = {cell->state, '\0'};

    for (size_t i = 0; i < own->count; i++) {
        if (counts(own, &own->list[i]))
            attribute(line, json, own->list[i].key, own->list[i].value, 0);
    }
    if (!oteltop_attributes_find(own, "thread.name"))
        attribute(line, json, "thread.name", cell->thread->name, 0);
    if (!oteltop_attributes_find(own, "thread.id"))
        attribute(line, json, "thread.id", NULL, (uint64_t)cell->thread->tid);
    if (!oteltop_attributes_find(own, "thread.state"))
        attribute(line, json, "thread.state", state, 0);
}

static char *identity_of(struct line *line, const struct oteltop_cell *cell)
{
    struct oteltop_buffer buffer;
    struct otelbase_json json;

    if (!open_json(line, &buffer, &json))
        return NULL;
    otelbase_json_open(&json, '{');
    index_write(&json, "stackIndex",
                oteltop_dictionary_stack(&line->dictionary, line->by, cell));
    otelbase_json_key(&json, "attributeIndices");
    otelbase_json_open(&json, '[');
    attributes(line, &json, cell);
    otelbase_json_close(&json, ']');
    if (cell->span)
        index_write(&json, "linkIndex",
                    oteltop_dictionary_link(&line->dictionary, cell->span));
    close_json(line, &buffer);
    return buffer.data;
}

static void sample_write(struct otelbase_json *json, const char *identity,
                         uint64_t value)
{
    if (value > 0)
        otelbase_json_literal(json, "%s,\"values\":[\"%" PRIu64 "\"]}",
                              identity, value);
}

/* Writes the sample that was kept in case that more are added to it. */
static void sample_end(struct line *line, struct samples *samples)
{
    if (samples->identity) {
        sample_write(&samples->cpu_json, samples->identity, samples->cpu_ns);
        if (line->wall)
            sample_write(&samples->wall_json, samples->identity,
                         samples->wall_ns);
    }
    free(samples->identity);
    samples->identity = NULL;
    samples->cpu_ns = samples->wall_ns = 0;
}

static void sample_add(struct line *line, struct samples *samples,
                       const struct oteltop_cell *cell)
{
    char *identity;

    /* The dictionary must have no entry that no sample refers to. */
    if (cell->cpu_ns == 0 && (!line->wall || cell->wall_ns == 0))
        return;
    identity = identity_of(line, cell);
    if (identity && samples->identity &&
        strcmp(identity, samples->identity) == 0) {
        free(identity);
    } else {
        sample_end(line, samples);
        samples->identity = identity;
    }
    samples->cpu_ns += cell->cpu_ns;
    samples->wall_ns += cell->wall_ns;
}

/* ---- processes ---------------------------------------------------------- */

static void resource_attribute(struct otelbase_json *json, const char *key,
                               const char *text, uint64_t number)
{
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "key");
    otelbase_json_text(json, key);
    otelbase_json_key(json, "value");
    oteltop_dictionary_value(json, text, number);
    otelbase_json_close(json, '}');
}

static void resource_write(struct otelbase_json *json,
                           const struct oteltop_process *process)
{
    const struct oteltop_attributes *const own = &process->resource;

    otelbase_json_key(json, "resource");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "attributes");
    otelbase_json_open(json, '[');
    for (size_t i = 0; i < own->count; i++) {
        if (counts(own, &own->list[i]))
            resource_attribute(json, own->list[i].key, own->list[i].value, 0);
    }
    if (!oteltop_attributes_find(own, "process.pid"))
        resource_attribute(json, "process.pid", NULL, (uint64_t)process->pid);
    if (process->container && !oteltop_attributes_find(own, "container.id"))
        resource_attribute(json, "container.id", process->container, 0);
    otelbase_json_close(json, ']');
    otelbase_json_close(json, '}');
}

static void profile_write(struct line *line, const char *type,
                          const char *samples)
{
    struct otelbase_json *const json = &line->json;

    otelbase_json_open(json, '{');
    otelbase_json_key(json, "sampleType");
    otelbase_json_open(json, '{');
    index_write(json, "typeStrindex",
                oteltop_dictionary_string(&line->dictionary, type));
    index_write(json, "unitStrindex",
                oteltop_dictionary_string(&line->dictionary, "nanoseconds"));
    otelbase_json_close(json, '}');
    otelbase_json_key(json, "samples");
    otelbase_json_literal(json, "[%s]", samples);
    otelbase_json_key(json, "timeUnixNano");
    otelbase_json_quoted(json, "%" PRIu64, line->start_unix_ns);
    otelbase_json_key(json, "durationNano");
    otelbase_json_quoted(json, "%" PRIu64, line->duration_ns);
    otelbase_json_close(json, '}');
}

static void process_write(struct line *line,
                          const struct oteltop_process *process,
                          const struct samples *samples)
{
    struct otelbase_json *const json = &line->json;

    otelbase_json_open(json, '{');
    resource_write(json, process);
    otelbase_json_key(json, "scopeProfiles");
    otelbase_json_open(json, '[');
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "scope");
    otelbase_json_literal(json, "{\"name\":\"otelctx-top\",\"version\":\"%s\"}",
                          OTELCTX_VERSION);
    otelbase_json_key(json, "profiles");
    otelbase_json_open(json, '[');
    profile_write(line, "cpu", samples->cpu.data);
    if (line->wall)
        profile_write(line, "wall", samples->wall.data);
    otelbase_json_close(json, ']');
    otelbase_json_close(json, '}');
    otelbase_json_close(json, ']');
    otelbase_json_close(json, '}');
}

static size_t written(const struct otelbase_json *json)
{
    const long size = ftell(json->out);

    return size > 0 ? (size_t)size : 0;
}

/* Adds at least one cell, all of one process. Returns the index of the next
 * cell. */
static size_t process_add(struct line *line, const struct oteltop_cells *cells,
                          size_t at)
{
    const struct oteltop_process *const process =
        cells->list[at]->thread->process;
    struct samples samples = {.identity = NULL};

    if (!open_json(line, &samples.cpu, &samples.cpu_json))
        return at;
    if (open_json(line, &samples.wall, &samples.wall_json)) {
        do
            sample_add(line, &samples, cells->list[at++]);
        while (
            at < cells->count && cells->list[at]->thread->process == process &&
            line->dictionary.size + written(&line->json) +
                    written(&samples.cpu_json) + written(&samples.wall_json) <
                LINE_SIZE);
        sample_end(line, &samples);
        close_json(line, &samples.wall);
    }
    close_json(line, &samples.cpu);
    if (line->error == 0)
        process_write(line, process, &samples);
    free(samples.cpu.data);
    free(samples.wall.data);
    return at;
}

/* ---- lines -------------------------------------------------------------- */

/* Writes the line, and begins another. */
static void line_end(struct line *line, FILE *out)
{
    struct otelbase_json json = {.out = out};

    close_json(line, &line->resources);
    if (line->dictionary.error != 0)
        line->error = line->dictionary.error;
    if (line->error == 0) {
        otelbase_json_open(&json, '{');
        otelbase_json_key(&json, "resourceProfiles");
        otelbase_json_literal(&json, "[%s]", line->resources.data);
        otelbase_json_key(&json, "dictionary");
        oteltop_dictionary_write(&json, &line->dictionary);
        otelbase_json_close(&json, '}');
        (void)putc('\n', out);
    }
    free(line->resources.data);
    oteltop_dictionary_free(&line->dictionary);
}

int oteltop_otlp_json_write(FILE *out, const struct oteltop_window *window,
                            const struct oteltop_dimensions *by,
                            uint64_t start_unix_ns, bool wall)
{
    struct line line = {.by = by,
                        .start_unix_ns = start_unix_ns,
                        .duration_ns = window->end_ns - window->begin_ns,
                        .wall = wall};
    struct oteltop_cells cells;
    size_t at = 0;

    line.error = oteltop_cells_sort(&cells, window);
    /* A file without samples has one line, too. */
    while (line.error == 0 && (at == 0 || at < cells.count)) {
        if (!open_json(&line, &line.resources, &line.json))
            break;
        do
            at = at < cells.count ? process_add(&line, &cells, at) : 1;
        while (line.error == 0 && at < cells.count &&
               line.dictionary.size + written(&line.json) < LINE_SIZE);
        line_end(&line, out);
    }
    free(cells.list);
    return line.error;
}
