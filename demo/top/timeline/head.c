/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/head.h"

#include "demo/top/timeline/html.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static void print_text(FILE *out, const struct oteltime_timeline *timeline,
                       size_t text)
{
    const struct otelbase_pool_item *const item =
        oteltime_timeline_text(timeline, text);

    oteltime_html_text(out, item->bytes, item->size);
}

static bool has(const struct oteltime_timeline *timeline, size_t text)
{
    return oteltime_timeline_text(timeline, text)->size > 0;
}

/* The title names each service once, up to this many. */
enum {
    TITLE_SERVICES = 4
};

void oteltime_title_print(FILE *out, const struct oteltime_timeline *timeline)
{
    struct otelbase_pool seen = {.count = 0};
    bool new;

    for (size_t i = 0; i < timeline->process_count; i++) {
        const size_t service = timeline->processes[i].service;

        if (!has(timeline, service))
            continue;
        (void)otelbase_pool_add(&seen, &service, sizeof(service), &new);
        if (!new || seen.count > TITLE_SERVICES)
            continue;
        (void)fputs(seen.count > 1 ? ", " : "", out);
        print_text(out, timeline, service);
    }
    if (seen.count > TITLE_SERVICES)
        (void)fprintf(out, " and %zu more", seen.count - TITLE_SERVICES);
    if (seen.count == 0)
        (void)fputs("Processes without a service name", out);
    otelbase_pool_free(&seen);
}

static void print_start(FILE *out, const struct oteltime_timeline *timeline)
{
    const time_t start = (time_t)(timeline->start_ns / 1000000000);
    struct tm fields;
    char text[64];

    if (gmtime_r(&start, &fields) &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &fields) > 0)
        (void)fprintf(out, "<li><b>%s</b> start</li>\n", text);
}

static void print_count(FILE *out, uint64_t count, const char *one,
                        const char *many)
{
    (void)fputs("<li><b>", out);
    oteltime_html_number(out, count);
    (void)fprintf(out, "</b> %s</li>\n", count == 1 ? one : many);
}

static size_t rows_shown(const struct oteltime_timeline *timeline)
{
    size_t shown = 0;

    for (size_t i = 0; i < timeline->row_count; i++)
        shown += timeline->rows[i].box_count > 0;
    return shown;
}

static void print_cost(FILE *out, const struct oteltime_timeline *timeline)
{
    (void)fputs("<p class=\"cost\">It stopped threads ", out);
    oteltime_html_number(out, timeline->stops);
    (void)fputs(" times, for ", out);
    oteltime_html_time(out, timeline->stopped_ns);
    (void)fputs(" in all and ", out);
    oteltime_html_time(out, timeline->longest_ns);
    (void)fputs(" at most.</p>\n", out);
}

void oteltime_facts_print(FILE *out, const struct oteltime_timeline *timeline)
{
    (void)fputs("<ul class=\"facts\">\n<li><b>", out);
    oteltime_html_time(out, timeline->end_ns);
    (void)fprintf(out, "</b> at %" PRIu64 " Hz</li>\n", timeline->hz);
    print_count(out, timeline->samples, "sample", "samples");
    print_count(out, timeline->process_count, "process", "processes");
    print_count(out, rows_shown(timeline), "thread", "threads");
    print_count(out, timeline->traces.count, "trace", "traces");
    if (has(timeline, timeline->host)) {
        (void)fputs("<li><b>", out);
        print_text(out, timeline, timeline->host);
        (void)fputs("</b> host</li>\n", out);
    }
    print_start(out, timeline);
    (void)fputs("</ul>\n", out);
    if (timeline->stops > 0)
        print_cost(out, timeline);
    if (!timeline->complete)
        (void)fputs("<p class=\"warning\">The recording was cut off: it has "
                    "no end. Shown is what it has.</p>\n",
                    out);
}

/* Leaves out the service's name, which the heading has already. */
static void print_resource(FILE *out, const struct oteltime_timeline *timeline,
                           const struct oteltime_process *process)
{
    const struct oteltime_set set = timeline->set_list[process->resource];
    const struct {
        const char *name;
        size_t text;
    } places[] = {
        {"container", process->container},
        {"pod", process->pod},
        {"cgroup", process->cgroup},
    };

    (void)fputs("<dl>\n", out);
    for (size_t i = set.first; i < set.first + set.count; i++) {
        if (strcmp(
                oteltime_timeline_text(timeline, timeline->pairs[i].key)->bytes,
                "service.name") == 0)
            continue;
        (void)fputs("<div><dt>", out);
        print_text(out, timeline, timeline->pairs[i].key);
        (void)fputs("</dt><dd>", out);
        print_text(out, timeline, timeline->pairs[i].value);
        (void)fputs("</dd></div>\n", out);
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (!has(timeline, places[i].text))
            continue;
        (void)fprintf(out, "<div><dt>%s</dt><dd>", places[i].name);
        print_text(out, timeline, places[i].text);
        (void)fputs("</dd></div>\n", out);
    }
    (void)fputs("</dl>\n", out);
}

static void print_heading(FILE *out, const struct oteltime_timeline *timeline,
                          size_t number)
{
    const struct oteltime_process *const process = &timeline->processes[number];

    (void)fprintf(out,
                  "<section class=\"process\" aria-labelledby=\"p%zu\">\n"
                  "<div class=\"heading\"><h2 id=\"p%zu\">",
                  number, number);
    if (has(timeline, process->service))
        print_text(out, timeline, process->service);
    else if (has(timeline, process->comm))
        print_text(out, timeline, process->comm);
    else
        (void)fputs("(no service name)", out);
    (void)fprintf(out, " <span class=\"pid\">pid %" PRIu64 "</span>",
                  process->pid);
    if (has(timeline, process->command)) {
        (void)fputs(" <code>", out);
        print_text(out, timeline, process->command);
        (void)fputs("</code>", out);
    }
    (void)fputs("</h2>", out);
    if (process->gone) {
        (void)fputs("<span class=\"gone\">ended at ", out);
        oteltime_html_time(out, process->gone_ns);
        (void)fputs("</span>", out);
    }
    (void)fputs("</div>\n", out);
    print_resource(out, timeline, process);
}

static void print_row(FILE *out, const struct oteltime_timeline *timeline,
                      const struct oteltime_row *row)
{
    (void)fputs("<div class=\"row\"><span class=\"name\">", out);
    print_text(out, timeline, row->comm);
    (void)fprintf(out,
                  " <span class=\"tid\">%" PRIu64 "</span></span>"
                  "<canvas role=\"img\" tabindex=\"-1\" aria-label=\"",
                  row->tid);
    print_text(out, timeline, row->comm);
    (void)fprintf(out, " %" PRIu64 ": %zu %s, ", row->tid, row->box_count,
                  row->box_count == 1 ? "stretch" : "stretches");
    oteltime_html_time(out, row->cpu_ns);
    (void)fputs(" of CPU\"></canvas></div>\n", out);
}

void oteltime_processes_print(FILE *out,
                              const struct oteltime_timeline *timeline,
                              const size_t *rows)
{
    size_t process = OTELBASE_NOTHING;

    for (size_t i = 0; i < rows_shown(timeline); i++) {
        const struct oteltime_row *const row = &timeline->rows[rows[i]];

        if (row->process != process) {
            (void)fputs(i == 0 ? "" : "</section>\n", out);
            print_heading(out, timeline, row->process);
        }
        process = row->process;
        print_row(out, timeline, row);
    }
    (void)fputs(process == OTELBASE_NOTHING
                    ? "<p class=\"warning\">The recording has no samples.</p>\n"
                    : "</section>\n",
                out);
}
