/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/model.h"

#include "demo/base/grow.h"
#include "demo/base/json_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    GAP_PERIODS = 3 /* a longer gap ends a stretch */
};

static size_t text_add(struct oteltime_timeline *timeline,
                       struct otelbase_text text)
{
    return otelbase_pool_add(&timeline->texts, text.text ? text.text : "",
                             text.size, NULL);
}

const struct otelbase_pool_item *
oteltime_timeline_text(const struct oteltime_timeline *timeline, size_t text)
{
    return &timeline->texts.items[text];
}

static int by_key(const void *a, const void *b)
{
    const struct otelbase_text one = ((const struct oteltop_pair *)a)->key;
    const struct otelbase_text other = ((const struct oteltop_pair *)b)->key;
    const size_t least = one.size < other.size ? one.size : other.size;
    const int order = memcmp(one.text, other.text, least);

    return order != 0 ? order
                      : (one.size > other.size) - (one.size < other.size);
}

static void set_keep(struct oteltime_timeline *timeline, size_t number,
                     const struct oteltop_pairs *pairs)
{
    timeline->set_list =
        otelbase_grow(timeline->set_list, number, &timeline->set_room,
                      sizeof(*timeline->set_list));
    timeline->set_list[number] =
        (struct oteltime_set){timeline->pair_count, pairs->count};
    for (size_t i = 0; i < pairs->count; i++) {
        timeline->pairs =
            otelbase_grow(timeline->pairs, timeline->pair_count,
                          &timeline->pair_room, sizeof(*timeline->pairs));
        timeline->pairs[timeline->pair_count++] = (struct oteltime_attribute){
            text_add(timeline, pairs->pairs[i].key),
            text_add(timeline, pairs->pairs[i].value)};
    }
}

/* Returns the number of a set of attributes, whose order does not matter. */
static size_t set_add(struct oteltime_timeline *timeline,
                      const struct oteltop_pairs *pairs)
{
    char *text = NULL;
    size_t size = 0, number;
    bool new;
    struct otelbase_json json = {.out = open_memstream(&text, &size)};

    if (!json.out) {
        perror("otelctx-timeline");
        exit(1);
    }
    if (pairs->count > 1)
        qsort(pairs->pairs, pairs->count, sizeof(*pairs->pairs), by_key);
    otelbase_json_open(&json, '[');
    for (size_t i = 0; i < pairs->count; i++) {
        otelbase_json_open(&json, '[');
        otelbase_json_string(&json, pairs->pairs[i].key.text,
                             pairs->pairs[i].key.size);
        otelbase_json_string(&json, pairs->pairs[i].value.text,
                             pairs->pairs[i].value.size);
        otelbase_json_close(&json, ']');
    }
    otelbase_json_close(&json, ']');
    if (fclose(json.out) != 0) {
        perror("otelctx-timeline");
        exit(1);
    }
    number = otelbase_pool_add(&timeline->sets, text, size, &new);
    if (new)
        set_keep(timeline, number, pairs);
    free(text);
    return number;
}

static const char *add_head(struct oteltime_timeline *timeline,
                            const struct oteltop_line *line)
{
    timeline->by = text_add(timeline, line->by);
    timeline->host = text_add(timeline, line->host);
    timeline->start_ns = line->start_ns;
    timeline->hz = line->hz;
    timeline->cpus = line->cpus;
    timeline->all_states = line->all_states;
    return NULL;
}

static struct otelbase_text service_of(const struct oteltop_pairs *resource)
{
    static const char name[] = "service.name";
    struct otelbase_text found = {.text = "", .size = 0};

    for (size_t i = 0; i < resource->count; i++)
        if (resource->pairs[i].key.size == sizeof(name) - 1 &&
            memcmp(resource->pairs[i].key.text, name, sizeof(name) - 1) == 0)
            found = resource->pairs[i].value;
    return found;
}

/* A known number with the same pid is the same process with a new context. */
static const char *add_process(struct oteltime_timeline *timeline,
                               const struct oteltop_line *line)
{
    size_t *const slot =
        otelbase_numbers_slot(&timeline->process_numbers, line->number);
    struct oteltime_process process = {
        .pid = line->pid,
        .command = text_add(timeline, line->command),
        .comm = text_add(timeline, line->comm),
        .container = text_add(timeline, line->container),
        .cgroup = text_add(timeline, line->cgroup),
        .pod = text_add(timeline, line->pod),
        .service = text_add(timeline, service_of(&line->attributes)),
        .resource = set_add(timeline, &line->attributes)};

    if (*slot == OTELBASE_NOTHING ||
        timeline->processes[*slot].pid != line->pid) {
        timeline->processes = otelbase_grow(
            timeline->processes, timeline->process_count,
            &timeline->process_room, sizeof(*timeline->processes));
        *slot = timeline->process_count++;
    }
    timeline->processes[*slot] = process;
    return NULL;
}

static const char *add_thread(struct oteltime_timeline *timeline,
                              const struct oteltop_line *line)
{
    size_t *const slot =
        otelbase_numbers_slot(&timeline->thread_numbers, line->number);
    const size_t process =
        *otelbase_numbers_slot(&timeline->process_numbers, line->process);

    if (process == OTELBASE_NOTHING)
        return "no line introduces the process of this thread";
    if (*slot == OTELBASE_NOTHING || timeline->rows[*slot].process != process ||
        timeline->rows[*slot].tid != line->tid) {
        timeline->rows =
            otelbase_grow(timeline->rows, timeline->row_count,
                          &timeline->row_room, sizeof(*timeline->rows));
        *slot = timeline->row_count++;
        timeline->rows[*slot] = (struct oteltime_row){
            .process = process, .tid = line->tid, .last = OTELBASE_NOTHING};
    }
    timeline->rows[*slot].comm = text_add(timeline, line->comm);
    return NULL;
}

static const char *add_span(struct oteltime_timeline *timeline,
                            const struct oteltop_line *line)
{
    /* Gives equal spans one number, whatever their numbers in the recording. */
    struct {
        uint8_t trace_id[16], span_id[8];
        uint64_t set, flags;
    } content = {.set = set_add(timeline, &line->attributes),
                 .flags = line->flags & 255};
    bool new;

    (void)memcpy(content.trace_id, line->trace_id, sizeof(line->trace_id));
    (void)memcpy(content.span_id, line->span_id, sizeof(line->span_id));
    const size_t index =
        otelbase_pool_add(&timeline->contexts, &content, sizeof(content), &new);
    *otelbase_numbers_slot(&timeline->span_numbers, line->number) = index;
    if (!new)
        return NULL;
    timeline->spans =
        otelbase_grow(timeline->spans, timeline->span_count,
                      &timeline->span_room, sizeof(*timeline->spans));
    struct oteltime_span *const span = &timeline->spans[timeline->span_count++];
    *span = (struct oteltime_span){
        .flags = (uint8_t)content.flags,
        .trace = otelbase_pool_add(&timeline->traces, content.trace_id,
                                   sizeof(content.trace_id), NULL),
        .identity = otelbase_pool_add(
            &timeline->identities, content.trace_id,
            sizeof(content.trace_id) + sizeof(content.span_id), NULL),
        .set = content.set};
    (void)memcpy(span->span_id, content.span_id, sizeof(span->span_id));
    return NULL;
}

/* Whether the sample continues the last box. */
static bool continues(const struct oteltime_timeline *timeline,
                      const struct oteltime_box *box,
                      const struct oteltime_box *sample)
{
    const uint64_t gap_ns = GAP_PERIODS * UINT64_C(1000000000) / timeline->hz;

    return box->span == sample->span && box->none == sample->none &&
           box->service == sample->service &&
           (sample->start_ns <= box->end_ns ||
            sample->start_ns - box->end_ns <= gap_ns);
}

static void box_add(struct oteltime_timeline *timeline,
                    struct oteltime_row *row, const struct oteltime_box *sample)
{
    struct oteltime_box *box =
        row->last == OTELBASE_NOTHING ? NULL : &timeline->boxes[row->last];
    const uint64_t free_from_ns = box ? box->end_ns : 0;

    if (!box || !continues(timeline, box, sample)) {
        timeline->boxes =
            otelbase_grow(timeline->boxes, timeline->box_count,
                          &timeline->box_room, sizeof(*timeline->boxes));
        row->last = timeline->box_count++;
        row->box_count++;
        box = &timeline->boxes[row->last];
        *box = *sample;
        box->samples = box->running = 0;
        box->cpu_ns = box->wall_ns = 0;
        if (box->start_ns < free_from_ns)
            box->start_ns = free_from_ns;
    }
    box->end_ns = sample->end_ns;
    box->cpu_ns += sample->cpu_ns;
    box->wall_ns += sample->wall_ns;
    box->samples++;
    box->running += sample->running;
    row->cpu_ns += sample->cpu_ns;
}

static const char *add_sample(struct oteltime_timeline *timeline,
                              const struct oteltop_line *line)
{
    const size_t thread =
        *otelbase_numbers_slot(&timeline->thread_numbers, line->thread);

    if (thread == OTELBASE_NOTHING)
        return "no line introduces this thread";
    struct oteltime_row *const row = &timeline->rows[thread];
    struct oteltime_box sample = {
        .row = thread,
        .span = OTELBASE_NOTHING,
        .none = OTELBASE_NOTHING,
        .service = timeline->processes[row->process].service,
        .start_ns = line->t_ns > line->wall_ns ? line->t_ns - line->wall_ns : 0,
        .end_ns = line->t_ns,
        .cpu_ns = line->cpu_ns,
        .wall_ns = line->wall_ns,
        .running = line->state.size == 1 && *line->state.text == 'R'};

    if (line->span == 0)
        sample.none = text_add(timeline, line->none);
    else
        sample.span =
            *otelbase_numbers_slot(&timeline->span_numbers, line->span);
    if (line->span > 0 && sample.span == OTELBASE_NOTHING)
        return "no line introduces this span";
    if (row->last != OTELBASE_NOTHING &&
        line->t_ns < timeline->boxes[row->last].end_ns)
        return "the time goes back on this thread";
    box_add(timeline, row, &sample);
    timeline->samples++;
    return NULL;
}

static const char *add_gone(struct oteltime_timeline *timeline,
                            const struct oteltop_line *line)
{
    const size_t process =
        *otelbase_numbers_slot(&timeline->process_numbers, line->number);

    if (process == OTELBASE_NOTHING)
        return "no line introduces this process";
    timeline->processes[process].gone = true;
    timeline->processes[process].gone_ns = line->t_ns;
    return NULL;
}

const char *oteltime_timeline_add(struct oteltime_timeline *timeline,
                                  const struct oteltop_line *line)
{
    if (line->t_ns > timeline->end_ns)
        timeline->end_ns = line->t_ns;
    switch (line->kind) {
    case OTELTOP_RECORDING:
        return add_head(timeline, line);
    case OTELTOP_PROCESS:
        return add_process(timeline, line);
    case OTELTOP_THREAD:
        return add_thread(timeline, line);
    case OTELTOP_SPAN:
        return add_span(timeline, line);
    case OTELTOP_SAMPLE:
        return add_sample(timeline, line);
    case OTELTOP_RATE:
        timeline->hz = line->hz;
        return NULL;
    case OTELTOP_GONE:
        return add_gone(timeline, line);
    case OTELTOP_END:
        timeline->stops = line->stops;
        timeline->stopped_ns = line->stopped_ns;
        timeline->longest_ns = line->longest_ns;
        return NULL;
    case OTELTOP_OTHER:
        break;
    }
    return NULL;
}

int oteltime_timeline_read(struct oteltime_timeline *timeline,
                           struct oteltop_recording *recording)
{
    int status;

    while ((status = oteltop_recording_next(recording)) > 0) {
        recording->fault.why =
            oteltime_timeline_add(timeline, &recording->line);
        recording->fault.byte = 0;
        if (recording->fault.why)
            return -EINVAL;
    }
    timeline->complete = recording->complete;
    return status;
}

void oteltime_timeline_free(struct oteltime_timeline *timeline)
{
    otelbase_pool_free(&timeline->texts);
    otelbase_pool_free(&timeline->sets);
    otelbase_pool_free(&timeline->traces);
    otelbase_pool_free(&timeline->identities);
    otelbase_pool_free(&timeline->contexts);
    otelbase_numbers_free(&timeline->process_numbers);
    otelbase_numbers_free(&timeline->thread_numbers);
    otelbase_numbers_free(&timeline->span_numbers);
    free(timeline->set_list);
    free(timeline->pairs);
    free(timeline->processes);
    free(timeline->rows);
    free(timeline->spans);
    free(timeline->boxes);
}
