/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/live.h"

#include "demo/reader/os/clock.h"
#include "demo/top/command/complain.h"
#include "demo/top/command/signals.h"
#include "demo/top/screen/draw.h"
#include "demo/top/screen/terminal.h"
#include "demo/top/screen/view.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000U

struct live {
    struct oteltop_session *session;
    struct oteltop_view view;
    struct oteltop_rows rows;
    uint64_t passed_ns; /* of the rows */
    uint64_t shown_ns;  /* time at which the rows were made, since the start */
    bool colour;
    enum oteltop_column order; /* of the rows */
    bool is_total;             /* the rows are those of the whole recording */
    bool is_over;              /* the terminal has gone */
};

/* ---- a frame ------------------------------------------------------------ */

static size_t describe_time(const struct live *live, char *out, size_t size)
{
    const struct oteltop_session *const session = live->session;
    const time_t now = time(NULL);
    struct tm local;
    char clock[16] = "";

    if (session->options->replay)
        return (size_t)snprintf(
            out, size, "otelctx-top  %s %.1f s of a recording",
            live->is_total ? "all" : "at",
            (double)oteltop_session_at_ns(session) / SECOND_NS);
    if (localtime_r(&now, &local))
        (void)strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    return (size_t)snprintf(out, size, "otelctx-top  %s", clock);
}

static void describe_title(const struct live *live, char *out, size_t size)
{
    size_t used = describe_time(live, out, size);

    used += (size_t)snprintf(out + used, size - used, "  %zu processes%s",
                             oteltop_session_processes(live->session),
                             live->view.is_frozen ? "  frozen" : "");
    if (live->view.filter[0] != '\0' && used < size)
        (void)snprintf(out + used, size - used, "  only with: %s",
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
                  .untrusted = live->view.has_untrusted,
                  .order = live->view.order},
    };

    oteltop_terminal_size(&frame.style.width, &frame.lines);
    describe_title(live, title, sizeof(title));
    oteltop_session_cost(live->session, cost, sizeof(cost));
    oteltop_draw(stdout, &live->view, &frame);
}

/* ---- rows --------------------------------------------------------------- */

static void make_rows(struct live *live, const struct oteltop_window *window)
{
    oteltop_rows_free(&live->rows);
    (void)oteltop_rows_make(&live->rows, window, &live->view.by,
                            live->view.order, live->view.filter);
    live->passed_ns = window->end_ns - window->begin_ns;
    live->view.has_untrusted = live->session->options->no_stop ||
                               oteltop_rows_are_untrusted(&live->rows);
    live->order = live->view.order;
}

/* Makes the rows of the last second, and begins the next one. */
static void refresh(struct live *live)
{
    struct oteltop_session *const session = live->session;

    oteltop_session_settle(session);
    if (!live->view.is_frozen)
        make_rows(live, &session->window);
    oteltop_session_forget(session);
    live->shown_ns = oteltop_session_at_ns(session);
}

/* Makes rows at once, of the part of a second so far. */
static void regroup(struct live *live)
{
    struct oteltop_window *const window = &live->session->window;

    live->view.is_regrouped = false;
    if (live->view.is_frozen || live->is_total)
        return;
    window->end_ns = oteltop_session_at_ns(live->session);
    make_rows(live, window);
}

/* After the end of a recording, a key that changes the rows makes them again.
 */
static void refresh_total(struct live *live)
{
    live->is_total = true;
    oteltop_session_settle(live->session);
    make_rows(live, &live->session->total);
}

/* ---- keys and looks ----------------------------------------------------- */

/* Waits for keys until the next look is due. Returns whether a key came. */
static bool wait_for_keys(struct live *live)
{
    const uint64_t next_ns = oteltop_session_next_ns(live->session);
    const uint64_t now_ns = otelread_monotonic_ns();
    const uint64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    const struct timespec timeout =
        otelread_timespec(wait_ns < SECOND_NS ? wait_ns : SECOND_NS);
    struct pollfd keyboard = {.fd = STDIN_FILENO, .events = POLLIN};
    char keys[64];

    if (ppoll(&keyboard, 1, &timeout, NULL) <= 0)
        return false;

    const ssize_t got = read(STDIN_FILENO, keys, sizeof(keys));
    live->is_over = got <= 0;
    for (ssize_t i = 0; i < got; i++)
        oteltop_view_key(&live->view, keys[i]);
    if (got < (ssize_t)sizeof(keys))
        oteltop_view_pause(&live->view);
    return got > 0;
}

static int step(struct live *live)
{
    struct oteltop_session *const session = live->session;
    bool is_changed = wait_for_keys(live);
    int status = 0;

    session->collector.every = live->view.wants_wall;
    if (oteltop_signals_take_suspend()) {
        oteltop_terminal_suspend();
        is_changed = true;
    } else if (oteltop_signals_take_resume()) {
        oteltop_terminal_resume();
        is_changed = true;
    }
    if (live->view.is_regrouped)
        regroup(live);
    if (live->order != live->view.order &&
        oteltop_rows_sort(&live->rows, live->view.order) == 0)
        live->order = live->view.order;
    if (otelread_monotonic_ns() >= oteltop_session_next_ns(session))
        status = oteltop_session_step(session);
    if (session->replay.is_over && (is_changed || !live->is_total)) {
        refresh_total(live);
        is_changed = true;
    } else if (oteltop_session_at_ns(session) - live->shown_ns >= SECOND_NS &&
               !live->is_total) {
        refresh(live);
        is_changed = true;
    }
    if (is_changed)
        draw(live);
    return status;
}

int oteltop_live(struct oteltop_session *session)
{
    const struct oteltop_options *const options = session->options;
    const char *const plain = getenv("NO_COLOR");
    struct live live = {
        .session = session,
        .view = {.order = OTELTOP_CPU,
                 .wants_wall = options->wall,
                 .has_untrusted = options->no_stop},
        .colour = !plain || plain[0] == '\0',
    };
    int status = 0;

    if (oteltop_dimensions_parse(&live.view.by, options->by_text) != 0)
        return 1;

    const int error = oteltop_terminal_begin();
    if (error != 0) {
        oteltop_dimensions_free(&live.view.by);
        return oteltop_complain("cannot use the terminal", -error);
    }
    oteltop_signals_catch_suspend();
    session->wants_total = options->replay;
    draw(&live);
    while (status == 0 && !live.is_over && !live.view.is_over &&
           !oteltop_signals_is_over())
        status = step(&live);
    oteltop_terminal_end();
    oteltop_session_finish(session);
    oteltop_session_settle(session);
    oteltop_rows_free(&live.rows);
    oteltop_dimensions_free(&live.view.by);
    return status;
}
