/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/recording/line.h"

#include "demo/top/recording/grow.h"

#include <string.h>

enum type {
    NUMBER,
    NUMBER_AS_STRING,
    TRUTH,
    STRING,
    PAIRS,
    TRACE_ID,
    SPAN_ID
};

/* The first member tells the kind. */
static const struct {
    const char *name;
    enum otelctx_top_line_kind kind;
} kinds[] = {
    {"recording", OTELCTX_TOP_RECORDING},
    {"process", OTELCTX_TOP_PROCESS},
    {"thread", OTELCTX_TOP_THREAD},
    {"span", OTELCTX_TOP_SPAN},
    {"t", OTELCTX_TOP_SAMPLE},
    {"gone", OTELCTX_TOP_GONE},
    {"end", OTELCTX_TOP_END},
};

/* The members of each kind. The changed rate begins like a sample. */
static const struct row {
    enum otelctx_top_line_kind kind;
    const char *name;
    enum type type;
    bool required;
    size_t field;
} rows[] = {
#define FIELD(name) offsetof(struct otelctx_top_line, name)
    {OTELCTX_TOP_RECORDING, "recording", NUMBER, true, FIELD(number)},
    {OTELCTX_TOP_RECORDING, "by", STRING, false, FIELD(by)},
    {OTELCTX_TOP_RECORDING, "host", STRING, false, FIELD(host)},
    {OTELCTX_TOP_RECORDING, "start_ns", NUMBER_AS_STRING, true,
     FIELD(start_ns)},
    {OTELCTX_TOP_RECORDING, "hz", NUMBER, true, FIELD(hz)},
    {OTELCTX_TOP_RECORDING, "wall", TRUTH, false, FIELD(all_states)},
    {OTELCTX_TOP_RECORDING, "cpus", NUMBER, false, FIELD(cpus)},
    {OTELCTX_TOP_PROCESS, "process", NUMBER, true, FIELD(number)},
    {OTELCTX_TOP_PROCESS, "pid", NUMBER, true, FIELD(pid)},
    {OTELCTX_TOP_PROCESS, "command", STRING, false, FIELD(command)},
    {OTELCTX_TOP_PROCESS, "comm", STRING, false, FIELD(comm)},
    {OTELCTX_TOP_PROCESS, "container", STRING, false, FIELD(container)},
    {OTELCTX_TOP_PROCESS, "cgroup", STRING, false, FIELD(cgroup)},
    {OTELCTX_TOP_PROCESS, "pod", STRING, false, FIELD(pod)},
    {OTELCTX_TOP_PROCESS, "context", STRING, false, FIELD(context)},
    {OTELCTX_TOP_PROCESS, "resource", PAIRS, false, FIELD(attributes)},
    {OTELCTX_TOP_THREAD, "thread", NUMBER, true, FIELD(number)},
    {OTELCTX_TOP_THREAD, "process", NUMBER, true, FIELD(process)},
    {OTELCTX_TOP_THREAD, "tid", NUMBER, true, FIELD(tid)},
    {OTELCTX_TOP_THREAD, "comm", STRING, false, FIELD(comm)},
    {OTELCTX_TOP_SPAN, "span", NUMBER, true, FIELD(number)},
    {OTELCTX_TOP_SPAN, "trace_id", TRACE_ID, true, FIELD(trace_id)},
    {OTELCTX_TOP_SPAN, "span_id", SPAN_ID, true, FIELD(span_id)},
    {OTELCTX_TOP_SPAN, "flags", NUMBER, false, FIELD(flags)},
    {OTELCTX_TOP_SPAN, "attributes", PAIRS, false, FIELD(attributes)},
    {OTELCTX_TOP_SAMPLE, "t", NUMBER, true, FIELD(t_ns)},
    {OTELCTX_TOP_SAMPLE, "thread", NUMBER, true, FIELD(thread)},
    {OTELCTX_TOP_SAMPLE, "span", NUMBER, false, FIELD(span)},
    {OTELCTX_TOP_SAMPLE, "none", STRING, false, FIELD(none)},
    {OTELCTX_TOP_SAMPLE, "state", STRING, false, FIELD(state)},
    {OTELCTX_TOP_SAMPLE, "cpu", NUMBER, true, FIELD(cpu_ns)},
    {OTELCTX_TOP_SAMPLE, "wall", NUMBER, true, FIELD(wall_ns)},
    {OTELCTX_TOP_SAMPLE, "untrusted", TRUTH, false, FIELD(untrusted)},
    {OTELCTX_TOP_SAMPLE, "hz", NUMBER, false, FIELD(hz)},
    {OTELCTX_TOP_GONE, "gone", NUMBER, true, FIELD(number)},
    {OTELCTX_TOP_GONE, "t", NUMBER, true, FIELD(t_ns)},
    {OTELCTX_TOP_END, "end", NUMBER, true, FIELD(t_ns)},
    {OTELCTX_TOP_END, "stops", NUMBER, false, FIELD(stops)},
    {OTELCTX_TOP_END, "stopped_ns", NUMBER, false, FIELD(stopped_ns)},
    {OTELCTX_TOP_END, "longest_ns", NUMBER, false, FIELD(longest_ns)},
#undef FIELD
};

enum {
    ROW_COUNT = sizeof(rows) / sizeof(rows[0])
};

static bool is(struct otelctx_top_text text, const char *name)
{
    return text.size == strlen(name) && memcmp(text.text, name, text.size) == 0;
}

static enum otelctx_top_line_kind kind_of(struct otelctx_top_text key)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (is(key, kinds[i].name))
            return kinds[i].kind;
    return OTELCTX_TOP_OTHER;
}

static void take_pairs(struct otelctx_top_json *json,
                       struct otelctx_top_pairs *pairs)
{
    struct otelctx_top_pair pair;

    otelctx_top_json_open(json);
    while (otelctx_top_json_member(json, &pair.key)) {
        pair.value = otelctx_top_json_is_string(json)
                         ? otelctx_top_json_string(json)
                         : otelctx_top_json_any(json);
        pairs->pairs = otelctx_top_grow(pairs->pairs, pairs->count,
                                        &pairs->room, sizeof(pair));
        pairs->pairs[pairs->count++] = pair;
    }
}

/* Lower case digits only, as everywhere in OpenTelemetry; never all zeros. */
static void take_id(struct otelctx_top_json *json, uint8_t *out, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const struct otelctx_top_text text = otelctx_top_json_string(json);
    uint8_t any = 0;

    for (size_t i = 0; i < 2 * size && i < text.size; i++) {
        const char *const digit =
            text.text[i] != '\0' ? strchr(digits, text.text[i]) : NULL;

        if (!digit)
            break;
        out[i / 2] = (uint8_t)(out[i / 2] << 4 | (digit - digits));
        any |= out[i / 2];
        if (i == text.size - 1 && text.size == 2 * size && any)
            return;
    }
    otelctx_top_json_fail(json, "not an id of this size in hexadecimal");
}

static uint64_t take_number_as_string(struct otelctx_top_json *json)
{
    uint64_t number;

    if (!otelctx_top_json_is_string(json))
        otelctx_top_json_fail(json, "a number as a string is expected");
    json->at++;
    number = otelctx_top_json_number(json);
    if (!json->why && (json->at == json->end || *json->at++ != '"'))
        otelctx_top_json_fail(json, "a number as a string is expected");
    return number;
}

static void take_value(struct otelctx_top_json *json, const struct row *row,
                       struct otelctx_top_line *line)
{
    void *const out = (char *)line + row->field;

    switch (row->type) {
    case NUMBER:
        *(uint64_t *)out = otelctx_top_json_number(json);
        break;
    case NUMBER_AS_STRING:
        *(uint64_t *)out = take_number_as_string(json);
        break;
    case TRUTH:
        *(bool *)out = otelctx_top_json_bool(json);
        break;
    case STRING:
        *(struct otelctx_top_text *)out = otelctx_top_json_string(json);
        break;
    case PAIRS:
        take_pairs(json, out);
        break;
    case TRACE_ID:
        take_id(json, out, sizeof(line->trace_id));
        break;
    case SPAN_ID:
        take_id(json, out, sizeof(line->span_id));
        break;
    }
}

static size_t row_of(enum otelctx_top_line_kind kind,
                     struct otelctx_top_text key)
{
    size_t i = 0;

    while (i < ROW_COUNT && (rows[i].kind != kind || !is(key, rows[i].name)))
        i++;
    return i;
}

/* What the rows alone do not say. */
static void check(struct otelctx_top_json *json, struct otelctx_top_line *line,
                  const bool *taken)
{
    if (line->kind == OTELCTX_TOP_SAMPLE && line->thread == 0) {
        line->kind = line->hz > 0 ? OTELCTX_TOP_RATE : OTELCTX_TOP_OTHER;
        return;
    }
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == line->kind && rows[i].required && !taken[i])
            otelctx_top_json_fail(json, "a member is missing");
    if (line->kind == OTELCTX_TOP_SAMPLE &&
        (line->span > 0) == (line->none.size > 0))
        otelctx_top_json_fail(json, "either span or none is expected");
    if (line->kind == OTELCTX_TOP_RECORDING && line->hz == 0)
        otelctx_top_json_fail(json, "a rate is expected");
}

void otelctx_top_line_parse(struct otelctx_top_json *json,
                            struct otelctx_top_line *line)
{
    const struct otelctx_top_pairs pairs = line->attributes;
    struct otelctx_top_text key;
    bool taken[ROW_COUNT] = {false};
    bool first = true;

    *line = (struct otelctx_top_line){.kind = OTELCTX_TOP_OTHER};
    line->attributes.pairs = pairs.pairs;
    line->attributes.room = pairs.room;
    otelctx_top_json_open(json);
    while (otelctx_top_json_member(json, &key)) {
        if (first)
            line->kind = kind_of(key);
        first = false;
        const size_t row = row_of(line->kind, key);

        if (row == ROW_COUNT) {
            (void)otelctx_top_json_any(json);
        } else if (taken[row]) {
            otelctx_top_json_fail(json, "a member is there twice");
        } else {
            taken[row] = true;
            take_value(json, &rows[row], line);
        }
    }
    otelctx_top_json_finish(json);
    if (!json->why)
        check(json, line, taken);
}
