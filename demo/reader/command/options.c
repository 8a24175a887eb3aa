/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/options.h"

#include "demo/base/escape.h"
#include "demo/reader/os/processes.h"
#include "demo/reader/report/status.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char usage_head[] =
    "usage: otelctx-read [--json] [--raw] [--watch] PID|NAME...|--all\n"
    "       otelctx-read [--json] [--watch] --threads [--no-stop] "
    "PID|NAME...|--all\n"
    "       otelctx-read --list [--threads] [PID|NAME...]\n"
    "       otelctx-read [--json] --why PID|NAME...\n"
    "       otelctx-read --check-config FILE\n"
    "\n"
    "Shows the OpenTelemetry process contexts (OTEP 4719) of other processes,\n"
    "and the thread contexts (OTEP 4947) of their threads.\n";

static const char usage_tail[] =
    "Exit status: 0 ok, 1 other failure, 2 usage, 3 no such process,\n"
    "4 no permission, 5 no context, 6 several contexts, 7 invalid context,\n"
    "8 busy (being written, or memory that does not answer). Of several\n"
    "processes, the first that is not 0.";

/* The options, in the order of --help. */
static const struct row {
    const char *name;
    char letter;          /* or 0 */
    const char *argument; /* what it is called, or NULL */
    size_t field;         /* a bool, or with an argument a const char * */
    const char *help;     /* in lines of at most 62 characters */
} rows[] = {
#define FIELD(name) offsetof(struct otelread_options, name)
    {"all", 'a', NULL, FIELD(all),
     "every process that can be read and has a context"},
    {"list", 'l', NULL, FIELD(list),
     "a line for each process: its service, and how many of\n"
     "its threads have a context"},
    {"json", 'j', NULL, FIELD(json),
     "one JSON object per process, each on one line"},
    {"raw", 0, NULL, FIELD(raw), "every byte of header and payload, annotated"},
    {"watch", 'w', NULL, FIELD(watch), "keep running, and show each change"},
    {"threads", 't', NULL, FIELD(threads),
     "also thread contexts; stops each thread for a moment"},
    {"no-stop", 0, NULL, FIELD(no_stop),
     "read threads while they run, which is less reliable"},
    {"why", 0, NULL, FIELD(why),
     "what stands between a process and its context, and what\n"
     "to do"},
    {"check-config", 0, "FILE", FIELD(check_config),
     "check a configuration file of libotelctx_preload"},
    {"help", 'h', NULL, FIELD(help), "print this text"},
    {"version", 'V', NULL, FIELD(version), "print the version"},
#undef FIELD
};

enum {
    ROW_COUNT = sizeof(rows) / sizeof(rows[0]),
    OPTION_FIRST = UCHAR_MAX + 1 /* of rows[0]; smaller ones are letters */
};

static void print_row(const struct row *row)
{
    const int margin = 17;
    const char *help = row->help;
    int column = printf("  ");

    if (row->letter)
        column += printf("-%c, ", row->letter);
    column += printf("--%s", row->name);
    if (row->argument)
        column += printf(" %s", row->argument);
    if (column > margin - 2) {
        (void)putchar('\n');
        column = 0;
    }
    while (*help) {
        const int size = (int)strcspn(help, "\n");

        (void)printf("%*s%.*s\n", margin - column, "", size, help);
        help += size + (help[size] == '\n');
        column = 0;
    }
}

void otelread_options_print(void)
{
    (void)puts(usage_head);
    for (size_t i = 0; i < ROW_COUNT; i++)
        print_row(&rows[i]);
    (void)printf("\n%s\n", usage_tail);
}

static int complain(const char *what, const char *argument)
{
    char text[128];

    otelbase_escape_copy(text, sizeof(text), argument, strlen(argument));
    (void)fprintf(stderr,
                  "otelctx-read: %s%s%s%s\n"
                  "otelctx-read: --help shows how it is used\n",
                  what, text[0] != '\0' ? " \"" : "", text,
                  text[0] != '\0' ? "\"" : "");
    return OTELREAD_USAGE;
}

/* For a short option, getopt tells its letter in optopt. */
static int complain_option(const char *word)
{
    const char letter[] = {'-', (char)optopt, '\0'};

    return complain("cannot understand option",
                    optopt > 0 && optopt < OPTION_FIRST ? letter : word);
}

/* What getopt_long() wants: the letters, and the names. */
static void describe(char letters[ROW_COUNT + 2],
                     struct option names[ROW_COUNT + 1])
{
    *letters++ = ':'; /* a missing argument is not a wrong option */
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].letter)
            *letters++ = rows[i].letter;
        names[i] = (struct option){
            rows[i].name, rows[i].argument ? required_argument : no_argument,
            NULL, OPTION_FIRST + (int)i};
    }
    *letters = '\0';
    names[ROW_COUNT] = (struct option){NULL, 0, NULL, 0};
}

/* The row of what getopt_long() returned, or NULL. */
static const struct row *row_of(int option)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (option == OPTION_FIRST + (int)i || option == rows[i].letter)
            return &rows[i];
    return NULL;
}

/* Returns 0, or an exit status after a message. */
static int take(struct otelread_options *options, int option, const char *word)
{
    const struct row *const row = row_of(option);
    char *const base = (char *)options;

    if (option == ':')
        return complain("a file is missing behind", word);
    if (!row)
        return complain_option(word);
    if (row->argument)
        memcpy(base + row->field, &optarg, sizeof(optarg));
    else
        *(bool *)(base + row->field) = true;
    return 0;
}

/* Digits only are a number of a process, anything else is its name. */
static int check_words(const struct otelread_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        const char *const word = options->words[i];

        if (otelread_pid_parse(word) == 0 &&
            strspn(word, "0123456789") == strlen(word))
            return complain("not a process number:", word);
    }
    return 0;
}

static int check(const struct otelread_options *options)
{
    if (options->help || options->version)
        return 0;
    if (options->check_config)
        return options->count == 0 && !options->all
                   ? 0
                   : complain("--check-config goes without processes", "");
    if (options->json && options->raw)
        return complain("--json and --raw exclude each other", "");
    if (options->list && (options->json || options->raw || options->watch))
        return complain("--list goes without --json, --raw and --watch", "");
    if (options->threads && options->raw)
        return complain("--threads goes without --raw", "");
    if (options->no_stop && !options->threads)
        return complain("--no-stop goes with --threads only", "");
    if (options->why && (options->raw || options->watch || options->all ||
                         options->list || options->threads))
        return complain("--why goes with --json only", "");
    if (options->all && options->count > 0)
        return complain("--all goes without processes", "");
    if (!options->all && !options->list && options->count == 0)
        return complain("the number or the name of a process is missing", "");
    return 0;
}

int otelread_options_parse(struct otelread_options *options, int argc,
                           char **argv)
{
    char letters[ROW_COUNT + 2];
    struct option names[ROW_COUNT + 1];
    int status = 0;
    int option;

    *options = (struct otelread_options){.count = 0};
    describe(letters, names);
    opterr = 0;
    while (status == 0 &&
           (option = getopt_long(argc, argv, letters, names, NULL)) != -1)
        status = take(options, option, argv[optind - 1]);
    if (status != 0)
        return status;

    options->words = argv + optind;
    options->count = (size_t)(argc - optind);
    status = check_words(options);
    return status != 0 ? status : check(options);
}
