/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/run.h"

#include "demo/reader/os/clock.h"
#include "demo/top/collect/collector.h"
#include "demo/top/output/folded.h"
#include "demo/top/output/pprof.h"
#include "demo/top/output/record.h"
#include "demo/top/output/table.h"
#include "demo/top/screen/draw.h"
#include "demo/top/screen/terminal.h"
#include "demo/top/screen/view.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000U

static volatile sig_atomic_t is_over;
static volatile sig_atomic_t is_suspended;

static void end(int signal)
{
    (void)signal;
    is_over = 1;
}

static void suspend(int signal)
{
    (void)signal;
    is_suspended = 1;
}

struct run {
    const struct oteltop_options *options;
    struct oteltop_collector collector;
    struct oteltop_window window;
    struct oteltop_record record;
    uint64_t start_unix_ns;
};

/* ---- what the collector hands out --------------------------------------- */

static void take_sample(void *self, const struct oteltop_sample *sample)
{
    struct run *const run = self;

    oteltop_window_add(&run->window, sample);
    if (run->record.json.out)
        oteltop_record_sample(&run->record, sample);
}

static void take_gone(void *self, const struct oteltop_process *process,
                      uint64_t at_ns)
{
    struct run *const run = self;

    if (run->record.json.out)
        oteltop_record_gone(&run->record, process, at_ns);
}

static void take_rate(void *self, unsigned hz, uint64_t at_ns)
{
    struct run *const run = self;

    if (run->record.json.out)
        oteltop_record_rate(&run->record, hz, at_ns);
}

/* ---- one table ---------------------------------------------------------- */

static void describe_cost(const struct run *run, char *out, size_t size)
{
    const struct oteltop_collector *const collector = &run->collector;
    const struct oteltop_cost *const cost = &collector->cost;
    const double seconds =
        (double)(collector->last_ns - collector->start_ns) / 1e9;

    (void)snprintf(out, size,
                   "%u looks a second; %.0f stops a second, of %.0f us each "
                   "(at most %.0f us): %.2f %% of a processor",
                   collector->hz, (double)cost->stops / seconds,
                   cost->stops > 0
                       ? (double)cost->stopped_ns / 1e3 / (double)cost->stops
                       : 0.0,
                   (double)cost->longest_ns / 1e3,
                   (double)cost->stopped_ns / 1e7 / seconds);
}

static int print_table(struct run *run)
{
    char cost[256];
    const struct oteltop_style style = {.untrusted = run->options->no_stop,
                                        .order = OTELTOP_CPU};
    struct oteltop_rows rows;
    const int error = oteltop_rows_make(&rows, &run->window, &run->options->by,
                                        OTELTOP_CPU, NULL);

    if (error != 0) {
        (void)fprintf(stderr, "otelctx-top: %s\n", strerror(-error));
        return 1;
    }
    if (run->options->folded) {
        oteltop_folded_print(stdout, &rows, run->options->wall);
        oteltop_rows_free(&rows);
        return 0;
    }
    oteltop_table_heading(stdout, &run->options->by, &style);
    (void)putchar('\n');
    for (size_t i = 0; i < rows.count; i++) {
        oteltop_table_row(stdout, &rows.list[i],
                          run->window.end_ns - run->window.begin_ns, &style);
        (void)putchar('\n');
    }
    oteltop_rows_free(&rows);
    describe_cost(run, cost, sizeof(cost));
    (void)printf("\n%s\n", cost);
    return 0;
}

/* ---- sampling ----------------------------------------------------------- */

/* Each thread takes a descriptor. */
static void allow_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* A thread stays stopped until this program is given a processor. */
static void be_prompt(void)
{
    (void)setpriority(PRIO_PROCESS, 0, -20);
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = end};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

static void look_until(struct run *run, uint64_t until_ns)
{
    struct oteltop_collector *const collector = &run->collector;

    while (!is_over) {
        const uint64_t next_ns = oteltop_collector_next_ns(collector);
        const uint64_t now_ns = otelread_monotonic_ns();

        if (now_ns >= until_ns)
            break;
        if (next_ns > now_ns)
            otelread_sleep_ns(next_ns - now_ns);
        else
            oteltop_collector_look(collector);
    }
    run->window.end_ns = collector->last_ns - collector->start_ns;
    oteltop_collector_settle(collector);
}

static int write_pprof(const struct run *run)
{
    const struct oteltop_options *const options = run->options;
    FILE *const out = fopen(options->pprof, "we");
    int error = out ? 0 : errno;

    if (out) {
        oteltop_pprof_write(out, &run->window, &options->by,
                            run->start_unix_ns);
        error = fclose(out) == 0 ? 0 : errno;
    }
    if (error != 0)
        (void)fprintf(stderr, "otelctx-top: %s: %s\n", options->pprof,
                      strerror(error));
    return error != 0;
}

static int run_once(struct run *run)
{
    const uint64_t duration_ns =
        run->options->duration_ns > 0 ? run->options->duration_ns : SECOND_NS;

    look_until(run, run->collector.start_ns + duration_ns);
    if (run->options->pprof && write_pprof(run) != 0)
        return 1;
    return print_table(run);
}

/* ---- on a terminal ------------------------------------------------------ */

struct live {
    struct run *run;
    struct oteltop_view view;
    struct oteltop_rows rows;
    uint64_t passed_ns; /* of the rows */
    uint64_t shown_ns;  /* when the rows were made */
    bool colour;
};

static void describe_title(const struct live *live, char *out, size_t size)
{
    const time_t now = time(NULL);
    struct tm local;
    char clock[16] = "";
    size_t used;

    if (localtime_r(&now, &local))
        (void)strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    used = (size_t)snprintf(out, size, "otelctx-top  %s  %zu processes%s",
                            clock, live->run->collector.count,
                            live->view.is_frozen ? "  frozen" : "");
    if (live->view.filter[0] != '\0' && used < size)
        (void)snprintf(out + used, size - used, "  only with \"%s\"",
                       live->view.filter);
}

static void draw(struct live *live)
{
    char title[OTELTOP_TEXT_SIZE + 128];
    char cost[256];
    struct oteltop_frame frame = {
        .rows = &live->rows,
        .passed_ns = live->passed_ns,
        .title = title,
        .cost = cost,
        .style = {.colour = live->colour,
                  .untrusted = live->run->options->no_stop,
                  .order = live->view.order},
    };

    oteltop_terminal_size(&frame.style.width, &frame.lines);
    describe_title(live, title, sizeof(title));
    describe_cost(live->run, cost, sizeof(cost));
    oteltop_draw(stdout, &live->view, &frame);
}

/* The rows of the last second; the next one begins. */
static void refresh(struct live *live)
{
    struct run *const run = live->run;
    struct oteltop_window *const window = &run->window;

    window->end_ns = run->collector.last_ns - run->collector.start_ns;
    oteltop_collector_settle(&run->collector);
    if (!live->view.is_frozen) {
        oteltop_rows_free(&live->rows);
        (void)oteltop_rows_make(&live->rows, window, &live->view.by,
                                live->view.order, live->view.filter);
        live->passed_ns = window->end_ns - window->begin_ns;
    }
    oteltop_window_clear(window);
    oteltop_collector_forget(&run->collector);
    live->shown_ns = run->collector.last_ns;
}

/* Waits for keys until it is time to look. Returns whether there were some. */
static bool wait_for_keys(struct live *live)
{
    const uint64_t next_ns = oteltop_collector_next_ns(&live->run->collector);
    const uint64_t now_ns = otelread_monotonic_ns();
    const struct timespec timeout =
        otelread_timespec(next_ns > now_ns ? next_ns - now_ns : 0);
    struct pollfd keyboard = {.fd = STDIN_FILENO, .events = POLLIN};
    char keys[64];

    if (ppoll(&keyboard, 1, &timeout, NULL) <= 0)
        return false;

    const ssize_t got = read(STDIN_FILENO, keys, sizeof(keys));
    if (got <= 0)
        is_over = 1; /* the terminal is gone */
    for (ssize_t i = 0; i < got; i++)
        oteltop_view_key(&live->view, keys[i]);
    return got > 0;
}

static void step(struct live *live)
{
    struct oteltop_collector *const collector = &live->run->collector;
    bool is_changed = wait_for_keys(live);

    collector->every = live->view.wants_wall;
    if (is_suspended) {
        is_suspended = 0;
        oteltop_terminal_suspend();
        is_changed = true;
    }
    if (otelread_monotonic_ns() >= oteltop_collector_next_ns(collector))
        oteltop_collector_look(collector);
    if (collector->last_ns - live->shown_ns >= SECOND_NS) {
        refresh(live);
        is_changed = true;
    }
    if (is_changed)
        draw(live);
}

static int run_live(struct run *run)
{
    const struct sigaction action = {.sa_handler = suspend};
    const char *const plain = getenv("NO_COLOR");
    struct live live = {
        .run = run,
        .view = {.order = OTELTOP_CPU, .wants_wall = run->options->wall},
        .shown_ns = run->collector.last_ns,
        .colour = !plain || plain[0] == '\0',
    };

    if (oteltop_dimensions_parse(&live.view.by, run->options->by_text) != 0)
        return 1;

    const int error = oteltop_terminal_begin();
    if (error != 0) {
        (void)fprintf(stderr, "otelctx-top: cannot use the terminal: %s\n",
                      strerror(-error));
        oteltop_dimensions_free(&live.view.by);
        return 1;
    }
    (void)sigaction(SIGTSTP, &action, NULL);
    draw(&live);
    while (!is_over && !live.view.is_over)
        step(&live);
    oteltop_terminal_end();
    oteltop_rows_free(&live.rows);
    oteltop_dimensions_free(&live.view.by);
    return 0;
}

/* ---- all of it ---------------------------------------------------------- */

static int open_record(struct run *run)
{
    const struct oteltop_options *const options = run->options;

    if (!options->record)
        return 0;
    run->record.json.out = fopen(options->record, "we");
    if (!run->record.json.out) {
        (void)fprintf(stderr, "otelctx-top: %s: %s\n", options->record,
                      strerror(errno));
        return 1;
    }
    oteltop_record_begin(&run->record, run->start_unix_ns, options->hz,
                         options->wall);
    return 0;
}

static int close_record(struct run *run)
{
    const struct oteltop_collector *const collector = &run->collector;
    const struct oteltop_cost *const cost = &collector->cost;

    if (!run->record.json.out)
        return 0;
    oteltop_record_end(&run->record, collector->last_ns - collector->start_ns,
                       cost->stops, cost->stopped_ns, cost->longest_ns);
    if (fclose(run->record.json.out) == 0)
        return 0;
    (void)fprintf(stderr, "otelctx-top: %s: %s\n", run->options->record,
                  strerror(errno));
    return 1;
}

int oteltop_run(const struct oteltop_options *options, const pid_t *pids,
                size_t count)
{
    struct run run = {
        .options = options,
        .start_unix_ns = otelread_realtime_ns(),
        .collector = {.pids = pids,
                      .pids_count = count,
                      .no_stop = options->no_stop,
                      .every = options->wall,
                      .hz_wanted = options->hz,
                      .taker = {.self = &run,
                                .sample = take_sample,
                                .gone = take_gone,
                                .rate = take_rate}},
    };

    allow_descriptors();
    be_prompt();
    catch_signals();
    if (open_record(&run) != 0)
        return 1;

    const int error = oteltop_collector_begin(&run.collector);
    int status = 1;
    if (error != 0)
        (void)fprintf(stderr, "otelctx-top: cannot find processes: %s\n",
                      strerror(-error));
    else if (options->once || options->folded || options->pprof ||
             options->otlp_json || !oteltop_terminal_is_there())
        status = run_once(&run);
    else
        status = run_live(&run);
    if (close_record(&run) != 0)
        status = 1;
    oteltop_window_free(&run.window);
    oteltop_collector_free(&run.collector);
    return status;
}
