/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/options.h"

#include "demo/base/escape.h"
#include "demo/reader/os/processes.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USAGE 2

static const char usage[] =
    "usage: otelctx-top [OPTION]... [PID|NAME...|--all]\n"
    "       otelctx-top --replay FILE [OPTION]...\n"
    "\n"
    "Shows what the machine works for: processor time by service, route, "
    "trace,\n"
    "or any attribute that processes and threads publish as OpenTelemetry "
    "contexts.\n"
    "\n"
    "  -a, --all        every process; the default\n"
    "  -b, --by LIST    rows: service, process, thread, trace, span, state, "
    "pod,\n"
    "                   container, cgroup, or any attribute, as in\n"
    "                   service,http.route (a tree); the default is "
    "service,process\n"
    "  -1, --once       one table, of one second\n"
    "  -f, --for TIME   one table, of that long: 10s, 500ms, 2m\n"
    "  -w, --wall       threads that sleep, too\n"
    "  -n, --no-stop    read threads while they run, which is less reliable\n"
    "  --hz N           looks a second, 1 to 1000; the default is 99\n"
    "  --record FILE    write all samples: see otelctx-recording(5)\n"
    "  --replay FILE    show a recording instead; - is standard input\n"
    "  --folded         print stacks for flame graphs, in microseconds\n"
    "  --pprof FILE     write a profile for pprof\n"
    "  --otlp-json FILE\n"
    "                   write an OTLP profile, as JSON\n"
    "  -h, --help       print this text\n"
    "  -V, --version    print the version\n"
    "\n"
    "With a terminal the table is shown again each second; press h for the "
    "keys.\n"
    "Exit status: 0 ok, 1 failure, 2 usage, 3 no such process.";

void oteltop_options_print(void)
{
    (void)puts(usage);
}

static int complain(const char *what, const char *argument)
{
    char text[128];

    otelbase_escape_copy(text, sizeof(text), argument, strlen(argument));
    (void)fprintf(stderr,
                  "otelctx-top: %s \"%s\"\n"
                  "otelctx-top: --help shows how it is used\n",
                  what, text);
    return USAGE;
}

/* ---- values ------------------------------------------------------------- */

/* A whole number with a unit. Returns 0 or -EINVAL. */
static int parse_time(const char *text, uint64_t *out)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ms", 1000000},
                 {"s", 1000000000},
                 {"m", 60000000000},
                 {"", 1000000000}};
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return -EINVAL;
    errno = 0;
    const uint64_t number = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].name) == 0 && errno == 0 && number > 0 &&
            number <= INT64_MAX / units[i].ns) {
            *out = number * units[i].ns;
            return 0;
        }
    }
    return -EINVAL;
}

static const char default_rows[] = "service,process";
static const char default_stacks[] = "service,http.route,trace,thread,state";

static int take_by(struct oteltop_options *options)
{
    options->by_text = optarg;
    switch (oteltop_dimensions_parse(&options->by, optarg)) {
    case 0:
        return 0;
    case -E2BIG:
        return complain("--by: more than 8 names:", optarg);
    case -ENOMEM:
        return complain("--by: out of memory:", optarg);
    default:
        return complain("--by: a name is empty:", optarg);
    }
}

static int take_hz(struct oteltop_options *options)
{
    char *end;
    const unsigned long hz = strtoul(optarg, &end, 10);

    if (!isdigit((unsigned char)optarg[0]) || *end != '\0' || hz < 1 ||
        hz > 1000)
        return complain("--hz: not a number from 1 to 1000:", optarg);
    options->hz = (unsigned)hz;
    return 0;
}

static int take_for(struct oteltop_options *options)
{
    if (parse_time(optarg, &options->duration_ns) != 0)
        return complain("--for: not a time such as 10s, 500ms or 2m:", optarg);
    options->once = true;
    return 0;
}

/* ---- options ------------------------------------------------------------ */

enum {
    OPTION_HZ = 256,
    OPTION_RECORD,
    OPTION_REPLAY,
    OPTION_FOLDED,
    OPTION_PPROF,
    OPTION_OTLP_JSON
};

static const char letters[] = ":ab:1f:wnhV";
static const struct option names[] = {
    {"all", no_argument, NULL, 'a'},
    {"by", required_argument, NULL, 'b'},
    {"once", no_argument, NULL, '1'},
    {"for", required_argument, NULL, 'f'},
    {"wall", no_argument, NULL, 'w'},
    {"no-stop", no_argument, NULL, 'n'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"hz", required_argument, NULL, OPTION_HZ},
    {"record", required_argument, NULL, OPTION_RECORD},
    {"replay", required_argument, NULL, OPTION_REPLAY},
    {"folded", no_argument, NULL, OPTION_FOLDED},
    {"pprof", required_argument, NULL, OPTION_PPROF},
    {"otlp-json", required_argument, NULL, OPTION_OTLP_JSON},
    {NULL, 0, NULL, 0},
};

/* Letters may share a word, which getopt_long() then has not left yet. */
static int complain_unknown(const char *word, const char *next)
{
    char letter[] = "-?";

    if (optopt > 0 && next && next[0] == '-' && next[1] != '-' &&
        strchr(next, optopt))
        letter[1] = (char)optopt;
    return complain("cannot understand option",
                    letter[1] == '?' ? word : letter);
}

/* next: what getopt_long() goes on with, or NULL; word: the one before. */
static int take(struct oteltop_options *options, int option, const char *word,
                const char *next)
{
    switch (option) {
    case 'a':
        options->all = true;
        return 0;
    case 'b':
        return take_by(options);
    case '1':
        options->once = true;
        return 0;
    case 'f':
        return take_for(options);
    case 'w':
        options->wall = true;
        return 0;
    case 'n':
        options->no_stop = true;
        return 0;
    case 'h':
        options->help = true;
        return 0;
    case 'V':
        options->version = true;
        return 0;
    case OPTION_HZ:
        return take_hz(options);
    case OPTION_RECORD:
        options->record = optarg;
        return 0;
    case OPTION_REPLAY:
        options->replay = optarg;
        return 0;
    case OPTION_FOLDED:
        options->folded = true;
        return 0;
    case OPTION_PPROF:
        options->pprof = optarg;
        return 0;
    case OPTION_OTLP_JSON:
        options->otlp_json = optarg;
        return 0;
    case ':':
        return complain("an argument is missing behind", word);
    default:
        return complain_unknown(word, next);
    }
}

static int check(const struct oteltop_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        const char *const word = options->words[i];

        if (otelread_pid_parse(word) == 0 &&
            strspn(word, "0123456789") == strlen(word))
            return complain("not a process number:", word);
    }
    if (options->all && options->count > 0)
        return complain("--all goes without processes:", options->words[0]);
    if (options->replay && (options->all || options->count > 0))
        return complain("--replay goes without processes:", options->replay);
    if (options->replay && options->record)
        return complain("--replay goes without --record:", options->record);
    return 0;
}

int oteltop_options_parse(struct oteltop_options *options, int argc,
                          char **argv)
{
    int status = 0;
    int option;

    *options = (struct oteltop_options){.hz = 99};
    opterr = 0;
    while (status == 0 &&
           (option = getopt_long(argc, argv, letters, names, NULL)) != -1)
        status = take(options, option, argv[optind - 1], argv[optind]);
    options->words = argv + optind;
    options->count = (size_t)(argc - optind);
    if (status == 0 && !options->help && !options->version)
        status = check(options);
    if (status == 0 && !options->by_text) {
        options->by_text = options->folded ? default_stacks : default_rows;
        if (oteltop_dimensions_parse(&options->by, options->by_text) != 0)
            status = complain("--by: out of memory:", options->by_text);
    }
    return status;
}
