/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/page.h"

#include "demo/base/grow.h"
#include "demo/base/json_writer.h"
#include "demo/top/timeline/head.h"
#include "demo/top/timeline/html.h"
#include "demo/top/timeline/pack.h"
#include "demo/top/timeline/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The position of each process: first processes with a span, then the others,
 * each in the order in which the recording introduces them. */
static size_t *ranks_of(const struct oteltime_timeline *timeline)
{
    size_t *const ranks =
        otelbase_zeros(timeline->process_count, sizeof(*ranks));
    size_t with_span = 0, next = 0, without = 0;

    for (size_t i = 0; i < timeline->box_count; i++)
        if (timeline->boxes[i].span != OTELBASE_NOTHING)
            ranks[timeline->rows[timeline->boxes[i].row].process] = 1;
    for (size_t i = 0; i < timeline->process_count; i++)
        with_span += ranks[i];
    for (size_t i = 0; i < timeline->process_count; i++)
        ranks[i] = ranks[i] == 1 ? next++ : with_span + without++;
    return ranks;
}

/* Sorts the rows by process. Rows without samples are last, and not on the
 * page. */
static size_t *order_of(const struct oteltime_timeline *timeline)
{
    const size_t none = timeline->process_count;
    size_t *const ranks = ranks_of(timeline);
    size_t *const rows = otelbase_zeros(timeline->row_count, sizeof(*rows));
    size_t *const next = otelbase_zeros(none + 2, sizeof(*next));

    for (size_t i = 0; i < timeline->row_count; i++)
        next[(timeline->rows[i].box_count > 0 ? ranks[timeline->rows[i].process]
                                              : none) +
             1]++;
    for (size_t i = 0; i < none; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < timeline->row_count; i++)
        rows[next[timeline->rows[i].box_count > 0
                      ? ranks[timeline->rows[i].process]
                      : none]++] = i;
    free(next);
    free(ranks);
    return rows;
}

static void print_packed(FILE *out, const char *name,
                         const struct oteltime_bytes *bytes)
{
    (void)fprintf(out, ",\n\"%s\":\"", name);
    oteltime_html_base64(out, bytes->bytes, bytes->size);
    (void)putc('"', out);
}

/* Writes a string of JSON without any '<'. */
static void print_string(FILE *out, const struct otelbase_pool_item *text)
{
    char *bytes = NULL;
    size_t size = 0;
    struct otelbase_json json = {.out = open_memstream(&bytes, &size)};

    if (json.out)
        otelbase_json_string(&json, text->bytes, text->size);
    if (!json.out || fclose(json.out) != 0) {
        perror("otelctx-timeline");
        exit(1);
    }
    oteltime_html_json(out, bytes, size);
    free(bytes);
}

/* Writes the reasons for boxes without a span: texts, by their numbers. */
static void print_reasons(FILE *out, const struct oteltime_timeline *timeline)
{
    struct otelbase_pool seen = {.count = 0};
    const char *comma = "";
    bool new;

    (void)fputs(",\n\"none\":{", out);
    for (size_t i = 0; i < timeline->box_count; i++) {
        const size_t none = timeline->boxes[i].none;

        if (none == OTELBASE_NOTHING)
            continue;
        (void)otelbase_pool_add(&seen, &none, sizeof(none), &new);
        if (!new)
            continue;
        (void)fprintf(out, "%s\"%zu\":", comma, none);
        print_string(out, oteltime_timeline_text(timeline, none));
        comma = ",";
    }
    (void)putc('}', out);
    otelbase_pool_free(&seen);
}

static void print_data(FILE *out, const struct oteltime_timeline *timeline,
                       const size_t *rows)
{
    struct oteltime_packed packed = oteltime_pack(timeline, rows);

    (void)fprintf(
        out,
        "{\"unit_ns\":%d,\"hz\":%" PRIu64 ",\"end\":%" PRIu64
        ",\"boxCount\":%zu,\"spanCount\":%zu,\"traceCount\":%zu,\n\"sets\":[",
        OTELTIME_UNIT_NS, timeline->hz, timeline->end_ns / OTELTIME_UNIT_NS + 1,
        packed.box_count, packed.span_count, packed.trace_count);
    for (size_t i = 0; i < timeline->sets.count; i++) {
        (void)fputs(i == 0 ? "" : ",\n", out);
        oteltime_html_json(out, timeline->sets.items[i].bytes,
                           timeline->sets.items[i].size);
    }
    (void)putc(']', out);
    print_reasons(out, timeline);
    print_packed(out, "boxes", &packed.boxes);
    print_packed(out, "spans", &packed.spans);
    print_packed(out, "traces", &packed.traces);
    (void)fputs("}", out);
    oteltime_packed_free(&packed);
}

void oteltime_page_print(FILE *out, const struct oteltime_timeline *timeline)
{
    size_t *const rows = order_of(timeline);

    for (const struct oteltime_part *part = oteltime_parts;; part++) {
        (void)fwrite(part->text, 1, part->size, out);
        if (!part->place)
            break;
        if (strcmp(part->place, "title") == 0)
            oteltime_title_print(out, timeline);
        else if (strcmp(part->place, "facts") == 0)
            oteltime_facts_print(out, timeline);
        else if (strcmp(part->place, "processes") == 0)
            oteltime_processes_print(out, timeline, rows);
        else if (strcmp(part->place, "tables") == 0)
            oteltime_tables_print(out, timeline);
        else if (strcmp(part->place, "data") == 0)
            print_data(out, timeline, rows);
    }
    free(rows);
}
