/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/once.h"

#include "demo/reader/os/clock.h"
#include "demo/top/command/complain.h"
#include "demo/top/command/signals.h"
#include "demo/top/output/folded.h"
#include "demo/top/output/otlp_json.h"
#include "demo/top/output/pprof.h"
#include "demo/top/output/table.h"
#include "demo/top/screen/terminal.h"
#include "demo/top/table/rows.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS 1000000000U

static void print_rows(const struct oteltop_session *session,
                       const struct oteltop_rows *rows)
{
    const struct oteltop_options *const options = session->options;
    struct oteltop_style style = {.untrusted = options->no_stop ||
                                               oteltop_rows_are_untrusted(rows),
                                  .order = OTELTOP_CPU};
    unsigned lines;
    char cost[256];

    if (isatty(STDOUT_FILENO))
        oteltop_terminal_size(&style.width, &lines);

    oteltop_table_heading(stdout, &options->by, &style);
    (void)putchar('\n');
    for (size_t i = 0; i < rows->count; i++) {
        oteltop_table_row(stdout, &rows->list[i],
                          session->window.end_ns - session->window.begin_ns,
                          &style);
        (void)putchar('\n');
    }
    oteltop_session_cost(session, cost, sizeof(cost));
    (void)printf("\n%s\n", cost);
}

static int print(const struct oteltop_session *session)
{
    const struct oteltop_options *const options = session->options;
    struct oteltop_rows rows;
    const int error = oteltop_rows_make(&rows, &session->window, &options->by,
                                        OTELTOP_CPU, NULL);

    if (error != 0)
        return oteltop_complain("cannot make a table", -error);
    if (options->folded)
        oteltop_folded_print(stdout, &rows, options->wall);
    else
        print_rows(session, &rows);
    oteltop_rows_free(&rows);
    return 0;
}

/* ---- profiles ----------------------------------------------------------- */

/* NULL for outputs that are not wanted. */
struct profiles {
    FILE *pprof;
    FILE *otlp_json;
};

/* Whether the output is the recording that is to be replayed. */
static bool is_input(const struct oteltop_session *session, const char *path)
{
    FILE *const in = session->replay.recording.in;
    struct stat input, output;

    return in && fstat(fileno(in), &input) == 0 && S_ISREG(input.st_mode) &&
           stat(path, &output) == 0 && input.st_dev == output.st_dev &&
           input.st_ino == output.st_ino;
}

static int open_profile(const struct oteltop_session *session, const char *path,
                        FILE **out)
{
    if (!path)
        return 0;
    if (is_input(session, path))
        return oteltop_complain_input(path);
    *out = fopen(path, "we");
    return *out ? 0 : oteltop_complain(path, errno);
}

/* Opens the outputs before anything is sampled. */
static int open_profiles(const struct oteltop_session *session,
                         struct profiles *profiles)
{
    const struct oteltop_options *const options = session->options;
    const int status = open_profile(session, options->pprof, &profiles->pprof);

    return status != 0 ? status
                       : open_profile(session, options->otlp_json,
                                      &profiles->otlp_json);
}

static int write_profile(const struct oteltop_session *session,
                         const char *path, FILE *out)
{
    const struct oteltop_options *const options = session->options;
    int error;

    if (!out)
        return 0;
    if (path == options->pprof)
        error = oteltop_pprof_write(out, &session->window, &options->by,
                                    session->start_unix_ns);
    else
        error = oteltop_otlp_json_write(out, &session->window, &options->by,
                                        session->start_unix_ns, options->wall);

    const int status = oteltop_close(out, path);
    return error == 0 ? status : oteltop_complain(path, -error);
}

/* Samples until the time is over or a signal ends the program. */
static int sample_until_end(struct oteltop_session *session,
                            uint64_t duration_ns)
{
    const uint64_t until_ns = session->start_ns + duration_ns;
    int status = 0;

    while (status == 0 && !oteltop_signals_is_over()) {
        const uint64_t next_ns = oteltop_session_next_ns(session);
        const uint64_t now_ns = otelread_monotonic_ns();

        if (now_ns >= until_ns)
            break;
        if (next_ns > now_ns)
            otelread_sleep_ns(next_ns - now_ns);
        else
            status = oteltop_session_step(session);
    }
    return status;
}

static void close_unwritten(struct profiles *profiles)
{
    if (profiles->pprof)
        (void)fclose(profiles->pprof);
    if (profiles->otlp_json)
        (void)fclose(profiles->otlp_json);
}

int oteltop_once(struct oteltop_session *session)
{
    const struct oteltop_options *const options = session->options;
    const uint64_t wanted_ns = options->duration_ns;
    struct profiles profiles = {.pprof = NULL};
    int status = open_profiles(session, &profiles);

    if (status == 0 && options->replay)
        status = oteltop_session_skip_to(session, wanted_ns > 0 ? wanted_ns
                                                                : UINT64_MAX);
    else if (status == 0)
        status =
            sample_until_end(session, wanted_ns > 0 ? wanted_ns : SECOND_NS);
    if (status != 0) {
        close_unwritten(&profiles);
        return status;
    }
    oteltop_session_finish(session);
    oteltop_session_settle(session);
    status = write_profile(session, options->pprof, profiles.pprof);
    if (write_profile(session, options->otlp_json, profiles.otlp_json) != 0)
        status = 1;
    return print(session) != 0 ? 1 : status;
}
