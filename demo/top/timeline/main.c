/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-timeline: makes a page of a recording. See otelctx-timeline(1). */

#include "demo/base/escape.h"
#include "demo/base/options.h"
#include "demo/top/timeline/page.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_ERROR 1

struct options {
    const char *output; /* a path, or NULL */
    bool help, version;
};

static const struct otelbase_option rows[] = {
    {"output", 'o', "FILE", offsetof(struct options, output),
     "write the page there, not to standard output", NULL},
    {"help", 'h', NULL, offsetof(struct options, help), "print this text",
     NULL},
    {"version", 'V', NULL, offsetof(struct options, version),
     "print the version", NULL},
};

static const struct otelbase_program program = {
    .name = "otelctx-timeline",
    .head = "usage: otelctx-timeline [-o FILE] RECORDING|-\n"
            "\n"
            "Makes an HTML page of a recording of otelctx-top: which span each "
            "thread\n"
            "worked for, and when. \"-\" is standard input.\n",
    .tail = "Exit status: 0 ok, 1 failure, 2 usage.",
    .options = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .missing = "an argument is missing behind",
};

static void print_name(const char *name)
{
    otelbase_escape_print(stderr, name, strlen(name));
}

static int complain(const char *what, const char *name, int error)
{
    (void)fprintf(stderr, "otelctx-timeline: cannot %s ", what);
    print_name(name);
    (void)fprintf(stderr, ": %s\n", strerror(error));
    return STATUS_ERROR;
}

static int complain_line(const char *name, const struct oteltop_fault *fault)
{
    (void)fputs("otelctx-timeline: ", stderr);
    print_name(name);
    (void)fprintf(stderr, ":%zu:", fault->line);
    if (fault->byte > 0)
        (void)fprintf(stderr, "%zu:", fault->byte);
    (void)fprintf(stderr, " %s\n", fault->why);
    return STATUS_ERROR;
}

/* Whether the page would overwrite the recording. */
static bool is_same_file(const char *recording, const char *output)
{
    struct stat in, out;

    return (strcmp(recording, "-") == 0 ? fstat(STDIN_FILENO, &in)
                                        : stat(recording, &in)) == 0 &&
           stat(output, &out) == 0 && S_ISREG(out.st_mode) &&
           in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

static int read_all(const char *name, struct oteltime_timeline *timeline)
{
    const bool standard = strcmp(name, "-") == 0;
    struct oteltop_recording recording = {.in = standard ? stdin
                                                         : fopen(name, "re")};
    int result;

    if (!recording.in)
        return complain("open", name, errno);
    result = oteltime_timeline_read(timeline, &recording);
    if (result == -EINVAL && recording.fault.why)
        result = complain_line(name, &recording.fault);
    else if (result < 0)
        result = complain("read", name, -result);
    oteltop_recording_free(&recording);
    if (!standard)
        (void)fclose(recording.in);
    return result;
}

/* Makes the output file only after the recording has proved valid. */
static int write_all(const char *name, const struct oteltime_timeline *timeline)
{
    FILE *const out = name ? fopen(name, "we") : stdout;
    bool failed;

    if (!name)
        name = "standard output";
    if (!out)
        return complain("open", name, errno);
    oteltime_page_print(out, timeline);
    failed = ferror(out) != 0;
    failed = fclose(out) != 0 || failed;
    return failed ? complain("write", name, errno) : 0;
}

/* Makes the page. Returns the exit status. */
static int run(const char *recording, const char *output)
{
    struct oteltime_timeline timeline = {.start_ns = 0};
    int status = read_all(recording, &timeline);

    if (status == 0)
        status = write_all(output, &timeline);
    oteltime_timeline_free(&timeline);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.output = NULL};
    const int wrong = otelbase_options_parse(&program, &options, argc, argv);

    if (wrong != 0)
        return wrong;
    if (options.help)
        return otelbase_options_help(&program);
    if (options.version)
        return otelbase_options_version(&program);
    if (optind != argc - 1)
        return otelbase_options_complain(&program, "one recording is expected",
                                         NULL);
    if (options.output && is_same_file(argv[optind], options.output))
        return otelbase_options_complain(
            &program, "the page would overwrite the recording", NULL);
    return run(argv[optind], options.output);
}
