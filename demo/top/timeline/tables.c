/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/tables.h"

#include "demo/base/grow.h"
#include "demo/top/timeline/html.h"
#include "demo/top/timeline/table.h"

#include <stdlib.h>

enum {
    SHOWN_MAX = 200 /* rows shown; one more stands for the others */
};

struct printer {
    FILE *out;
    const struct oteltime_timeline *timeline;
    uint64_t cpu_ns; /* of everything */
};

static void print_text(const struct printer *printer, size_t text)
{
    const struct otelbase_pool_item *const item =
        oteltime_timeline_text(printer->timeline, text);

    oteltime_html_text(printer->out, item->bytes, item->size);
}

static void print_head(const struct printer *printer, const char *caption,
                       const char *name)
{
    (void)fprintf(printer->out,
                  "<table>\n<caption>%s</caption>\n<thead><tr>"
                  "<th scope=\"col\">%s</th><th scope=\"col\">CPU, s</th>"
                  "<th scope=\"col\">share</th><th scope=\"col\">wall, s</th>"
                  "<th scope=\"col\">samples</th><th scope=\"col\">threads</th>"
                  "<th scope=\"col\">longest span, s</th></tr></thead>\n",
                  caption, name);
}

static void print_sum(const struct printer *printer,
                      const struct oteltime_sum *sum)
{
    FILE *const out = printer->out;
    const double share = printer->cpu_ns == 0 ? 0
                                              : 100 * (double)sum->cpu_ns /
                                                    (double)printer->cpu_ns;

    (void)fputs("<td>", out);
    oteltime_html_seconds(out, sum->cpu_ns);
    (void)fprintf(out,
                  "</td><td class=\"share\"><svg viewBox=\"0 0 100 8\" "
                  "preserveAspectRatio=\"none\" aria-hidden=\"true\">"
                  "<rect width=\"%.2f\" height=\"8\"/></svg><span>%.1f "
                  "%%</span></td><td>",
                  share, share);
    oteltime_html_seconds(out, sum->wall_ns);
    (void)fputs("</td><td>", out);
    oteltime_html_number(out, sum->samples);
    (void)fputs("</td><td>", out);
    if (sum->threads > 0)
        oteltime_html_number(out, sum->threads);
    (void)fputs("</td><td>", out);
    if (sum->longest_ns > 0)
        oteltime_html_seconds(out, sum->longest_ns);
    (void)fputs("</td></tr>\n", out);
}

/* Sums up the rows that are not shown. Several may share a thread. */
static void print_others(const struct printer *printer,
                         const struct oteltime_sum *sums, size_t count)
{
    struct oteltime_sum others = {.none = OTELBASE_NOTHING};

    for (size_t i = 0; i < count; i++) {
        others.cpu_ns += sums[i].cpu_ns;
        others.wall_ns += sums[i].wall_ns;
        others.samples += sums[i].samples;
        if (others.longest_ns < sums[i].longest_ns)
            others.longest_ns = sums[i].longest_ns;
    }
    (void)fputs("<tr class=\"others\"><th scope=\"row\">", printer->out);
    oteltime_html_number(printer->out, count);
    (void)fputs(" others</th>", printer->out);
    print_sum(printer, &others);
}

static void print_set(const struct printer *printer, size_t number)
{
    const struct oteltime_set set = printer->timeline->set_list[number];

    if (set.count == 0)
        (void)fputs("<i>no attributes</i>", printer->out);
    for (size_t i = set.first; i < set.first + set.count; i++) {
        (void)fputs(i == set.first ? "<span class=\"key\">"
                                   : ", <span class=\"key\">",
                    printer->out);
        print_text(printer, printer->timeline->pairs[i].key);
        (void)fputs("</span>=", printer->out);
        print_text(printer, printer->timeline->pairs[i].value);
    }
}

static void print_row_name(const struct printer *printer,
                           const struct oteltime_sum *sum)
{
    (void)fputs("<tr><th scope=\"row\">", printer->out);
    if (sum->set != OTELBASE_NOTHING) {
        print_set(printer, sum->set);
    } else {
        (void)fputs("<i>no context: ", printer->out);
        print_text(printer, sum->none);
        (void)fputs("</i>", printer->out);
    }
    (void)fputs("</th>", printer->out);
}

/* The rows of one service. */
static void print_service(const struct printer *printer,
                          const struct oteltime_sum *service,
                          const struct oteltime_table *sets)
{
    struct oteltime_sum *const rest =
        otelbase_zeros(sets->count, sizeof(*rest));
    size_t shown = 0, rest_count = 0;

    (void)fputs("<tbody>\n<tr class=\"service\"><th scope=\"rowgroup\">",
                printer->out);
    if (oteltime_timeline_text(printer->timeline, service->service)->size > 0)
        print_text(printer, service->service);
    else
        (void)fputs("<i>no service name</i>", printer->out);
    (void)fputs("</th>", printer->out);
    print_sum(printer, service);
    for (size_t i = 0; i < sets->count; i++) {
        if (sets->sums[i].service != service->service)
            continue;
        if (shown++ < SHOWN_MAX) {
            print_row_name(printer, &sets->sums[i]);
            print_sum(printer, &sets->sums[i]);
        } else {
            rest[rest_count++] = sets->sums[i];
        }
    }
    if (rest_count > 0)
        print_others(printer, rest, rest_count);
    (void)fputs("</tbody>\n", printer->out);
    free(rest);
}

static void print_traces(const struct printer *printer,
                         const struct oteltime_table *traces)
{
    const size_t shown = traces->count < SHOWN_MAX ? traces->count : SHOWN_MAX;

    print_head(printer, "By trace", "trace");
    (void)fputs("<tbody>\n", printer->out);
    for (size_t i = 0; i < shown; i++) {
        const struct oteltime_sum *const sum = &traces->sums[i];

        if (sum->trace == OTELBASE_NOTHING) {
            (void)fputs("<tr><th scope=\"row\"><i>no context</i></th>",
                        printer->out);
        } else {
            (void)fputs("<tr><th scope=\"row\"><code class=\"trace\">",
                        printer->out);
            for (size_t j = 0; j < 16; j++)
                (void)fprintf(
                    printer->out, "%02x",
                    (unsigned char)printer->timeline->traces.items[sum->trace]
                        .bytes[j]);
            (void)fputs("</code></th>", printer->out);
        }
        print_sum(printer, sum);
    }
    if (traces->count > shown)
        print_others(printer, traces->sums + shown, traces->count - shown);
    (void)fputs("</tbody>\n</table>\n", printer->out);
}

void oteltime_tables_print(FILE *out, const struct oteltime_timeline *timeline)
{
    struct printer printer = {.out = out, .timeline = timeline};
    struct oteltime_table services =
        oteltime_table_make(timeline, OTELTIME_BY_SERVICE);
    struct oteltime_table sets = oteltime_table_make(timeline, OTELTIME_BY_SET);
    struct oteltime_table traces =
        oteltime_table_make(timeline, OTELTIME_BY_TRACE);

    for (size_t i = 0; i < services.count; i++)
        printer.cpu_ns += services.sums[i].cpu_ns;
    print_head(&printer, "By service and attributes", "service, attributes");
    for (size_t i = 0; i < services.count && i < SHOWN_MAX; i++)
        print_service(&printer, &services.sums[i], &sets);
    if (services.count > SHOWN_MAX) {
        (void)fputs("<tbody>\n", out);
        print_others(&printer, services.sums + SHOWN_MAX,
                     services.count - SHOWN_MAX);
        (void)fputs("</tbody>\n", out);
    }
    (void)fputs("</table>\n", out);
    print_traces(&printer, &traces);
    free(services.sums);
    free(sets.sums);
    free(traces.sums);
}
