/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-timeline: makes a page of a recording. See otelctx-timeline(1). */

#include "demo/base/escape.h"
#include "demo/top/timeline/page.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STATUS_ERROR = 1,
    STATUS_USAGE = 2
};

static const char usage_text[] =
    "usage: otelctx-timeline [-o FILE] RECORDING|-\n"
    "\n"
    "Makes an HTML page of a recording of otelctx-top: which span each thread\n"
    "worked for, and when. \"-\" is standard input.\n"
    "\n"
    "  -o, --output FILE\n"
    "                 write the page there, not to standard output\n"
    "  -h, --help     print this text\n"
    "  -V, --version  print the version\n"
    "\n"
    "Exit status: 0 ok, 1 failure, 2 usage.\n";

static int complain_usage(const char *what)
{
    (void)fprintf(stderr,
                  "otelctx-timeline: %s\n"
                  "otelctx-timeline: --help shows how it is used\n",
                  what);
    return STATUS_USAGE;
}

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

/* The output is made only when the recording turned out to be right. */
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

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    struct oteltime_timeline timeline = {.start_ns = 0};
    const char *output = NULL;
    int option, status;

    while ((option = getopt_long(argc, argv, "o:hV", names, NULL)) != -1) {
        switch (option) {
        case 'o':
            output = optarg;
            break;
        case 'h':
            return fputs(usage_text, stdout) < 0 || fflush(stdout) != 0;
        case 'V':
            return puts("otelctx-timeline " OTELCTX_VERSION) < 0 ||
                   fflush(stdout) != 0;
        default:
            return complain_usage("cannot understand the options");
        }
    }
    if (optind != argc - 1)
        return complain_usage("one recording is expected");
    if (output && is_same_file(argv[optind], output))
        return complain_usage("the page would overwrite the recording");
    status = read_all(argv[optind], &timeline);
    if (status == 0)
        status = write_all(output, &timeline);
    oteltime_timeline_free(&timeline);
    return status;
}
