/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/recording/line.h"

#include "demo/base/grow.h"

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
    enum oteltop_line_kind kind;
} kinds[] = {
    {"recording", OTELTOP_RECORDING},
    {"process", OTELTOP_PROCESS},
    {"thread", OTELTOP_THREAD},
    {"span", OTELTOP_SPAN},
    {"t", OTELTOP_SAMPLE},
    {"gone", OTELTOP_GONE},
    {"end", OTELTOP_END},
};

/* The members of each kind of line. A changed rate begins like a sample. */
static const struct row {
    enum oteltop_line_kind kind;
    const char *name;
    enum type type;
    bool required;
    size_t field;
} rows[] = {
#define FIELD(name) offsetof(struct oteltop_line, name)
    {OTELTOP_RECORDING, "recording", NUMBER, true, FIELD(number)},
    {OTELTOP_RECORDING, "by", STRING, false, FIELD(by)},
    {OTELTOP_RECORDING, "host", STRING, false, FIELD(host)},
    {OTELTOP_RECORDING, "start_ns", NUMBER_AS_STRING, true, FIELD(start_ns)},
    {OTELTOP_RECORDING, "hz", NUMBER, true, FIELD(hz)},
    {OTELTOP_RECORDING, "wall", TRUTH, false, FIELD(all_states)},
    {OTELTOP_RECORDING, "cpus", NUMBER, false, FIELD(cpus)},
    {OTELTOP_PROCESS, "process", NUMBER, true, FIELD(number)},
    {OTELTOP_PROCESS, "pid", NUMBER, true, FIELD(pid)},
    {OTELTOP_PROCESS, "command", STRING, false, FIELD(command)},
    {OTELTOP_PROCESS, "comm", STRING, false, FIELD(comm)},
    {OTELTOP_PROCESS, "container", STRING, false, FIELD(container)},
    {OTELTOP_PROCESS, "cgroup", STRING, false, FIELD(cgroup)},
    {OTELTOP_PROCESS, "pod", STRING, false, FIELD(pod)},
    {OTELTOP_PROCESS, "context", STRING, false, FIELD(context)},
    {OTELTOP_PROCESS, "resource", PAIRS, false, FIELD(attributes)},
    {OTELTOP_THREAD, "thread", NUMBER, true, FIELD(number)},
    {OTELTOP_THREAD, "process", NUMBER, true, FIELD(process)},
    {OTELTOP_THREAD, "tid", NUMBER, true, FIELD(tid)},
    {OTELTOP_THREAD, "comm", STRING, false, FIELD(comm)},
    {OTELTOP_SPAN, "span", NUMBER, true, FIELD(number)},
    {OTELTOP_SPAN, "trace_id", TRACE_ID, true, FIELD(trace_id)},
    {OTELTOP_SPAN, "span_id", SPAN_ID, true, FIELD(span_id)},
    {OTELTOP_SPAN, "flags", NUMBER, false, FIELD(flags)},
    {OTELTOP_SPAN, "attributes", PAIRS, false, FIELD(attributes)},
    {OTELTOP_SAMPLE, "t", NUMBER, true, FIELD(t_ns)},
    {OTELTOP_SAMPLE, "thread", NUMBER, true, FIELD(thread)},
    {OTELTOP_SAMPLE, "span", NUMBER, false, FIELD(span)},
    {OTELTOP_SAMPLE, "none", STRING, false, FIELD(none)},
    {OTELTOP_SAMPLE, "state", STRING, false, FIELD(state)},
    {OTELTOP_SAMPLE, "cpu", NUMBER, true, FIELD(cpu_ns)},
    {OTELTOP_SAMPLE, "wall", NUMBER, true, FIELD(wall_ns)},
    {OTELTOP_SAMPLE, "untrusted", TRUTH, false, FIELD(untrusted)},
    {OTELTOP_SAMPLE, "hz", NUMBER, false, FIELD(hz)},
    {OTELTOP_GONE, "gone", NUMBER, true, FIELD(number)},
    {OTELTOP_GONE, "t", NUMBER, true, FIELD(t_ns)},
    {OTELTOP_END, "end", NUMBER, true, FIELD(t_ns)},
    {OTELTOP_END, "stops", NUMBER, false, FIELD(stops)},
    {OTELTOP_END, "stopped_ns", NUMBER, false, FIELD(stopped_ns)},
    {OTELTOP_END, "longest_ns", NUMBER, false, FIELD(longest_ns)},
#undef FIELD
};

enum {
    ROW_COUNT = sizeof(rows) / sizeof(rows[0])
};

static bool is(struct otelbase_text text, const char *name)
{
    return text.size == strlen(name) && memcmp(text.text, name, text.size) == 0;
}

static enum oteltop_line_kind kind_of(struct otelbase_text key)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (is(key, kinds[i].name))
            return kinds[i].kind;
    return OTELTOP_OTHER;
}

static void take_pairs(struct otelbase_scan *json, struct oteltop_pairs *pairs)
{
    struct oteltop_pair pair;

    otelbase_scan_open(json);
    while (otelbase_scan_member(json, &pair.key)) {
        pair.value = otelbase_scan_next_is(json, '\"')
                         ? otelbase_scan_string(json)
                         : otelbase_scan_any(json);
        pairs->pairs = otelbase_grow(pairs->pairs, pairs->count, &pairs->room,
                                     sizeof(pair));
        pairs->pairs[pairs->count++] = pair;
    }
}

/* Lower case digits only, as everywhere in OpenTelemetry. */
static void take_id(struct otelbase_scan *json, uint8_t *out, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const struct otelbase_text text = otelbase_scan_string(json);

    for (size_t i = 0; i < 2 * size && i < text.size; i++) {
        const char *const digit =
            text.text[i] != '\0' ? strchr(digits, text.text[i]) : NULL;

        if (!digit)
            break;
        out[i / 2] = (uint8_t)(out[i / 2] << 4 | (digit - digits));
        if (i == text.size - 1 && text.size == 2 * size)
            return;
    }
    otelbase_scan_fail(json, "not an id of this size in hexadecimal");
}

static uint64_t take_number_as_string(struct otelbase_scan *json)
{
    uint64_t number;

    if (!otelbase_scan_next_is(json, '\"')) {
        otelbase_scan_fail(json, "a number as a string is expected");
        return 0;
    }
    json->at++;
    number = otelbase_scan_number(json);
    if (!json->why && (json->at == json->end || *json->at++ != '"'))
        otelbase_scan_fail(json, "a number as a string is expected");
    return number;
}

static void take_value(struct otelbase_scan *json, const struct row *row,
                       struct oteltop_line *line)
{
    void *const out = (char *)line + row->field;

    switch (row->type) {
    case NUMBER:
        *(uint64_t *)out = otelbase_scan_number(json);
        break;
    case NUMBER_AS_STRING:
        *(uint64_t *)out = take_number_as_string(json);
        break;
    case TRUTH:
        *(bool *)out = otelbase_scan_bool(json);
        break;
    case STRING:
        *(struct otelbase_text *)out = otelbase_scan_string(json);
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

static size_t row_of(enum oteltop_line_kind kind, struct otelbase_text key)
{
    size_t i = 0;

    while (i < ROW_COUNT && (rows[i].kind != kind || !is(key, rows[i].name)))
        i++;
    return i;
}

/* Checks what the table of members does not express. */
static void check_members(struct otelbase_scan *json, struct oteltop_line *line,
                          const bool *taken)
{
    if (line->kind == OTELTOP_SAMPLE && line->thread == 0) {
        line->kind = line->hz > 0 ? OTELTOP_RATE : OTELTOP_OTHER;
        return;
    }
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == line->kind && rows[i].required && !taken[i])
            otelbase_scan_fail(json, "a member is missing");
    if (line->kind == OTELTOP_SAMPLE &&
        (line->span > 0) == (line->none.size > 0))
        otelbase_scan_fail(json, "either span or none is expected");
    if (line->pid > INT32_MAX || line->tid > INT32_MAX)
        otelbase_scan_fail(json, "no process has such a number");
    if (line->kind == OTELTOP_RECORDING && line->hz == 0)
        otelbase_scan_fail(json, "a rate is expected");
}

void oteltop_line_parse(struct otelbase_scan *json, struct oteltop_line *line)
{
    const struct oteltop_pairs pairs = line->attributes;
    struct otelbase_text key;
    bool taken[ROW_COUNT] = {false};
    bool first = true;

    *line = (struct oteltop_line){.kind = OTELTOP_OTHER};
    line->attributes.pairs = pairs.pairs;
    line->attributes.room = pairs.room;
    otelbase_scan_open(json);
    while (otelbase_scan_member(json, &key)) {
        if (first)
            line->kind = kind_of(key);
        first = false;
        const size_t row = row_of(line->kind, key);

        if (row == ROW_COUNT) {
            (void)otelbase_scan_any(json);
        } else if (taken[row]) {
            otelbase_scan_fail(json, "a member is there twice");
        } else {
            taken[row] = true;
            take_value(json, &rows[row], line);
        }
    }
    otelbase_scan_finish(json);
    if (!json->why)
        check_members(json, line, taken);
}
