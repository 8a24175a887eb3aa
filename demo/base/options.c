/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/options.h"

#include "demo/base/escape.h"
#include "demo/base/flush.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    COUNT_MAX = 32,              /* options */
    OPTION_FIRST = UCHAR_MAX + 1 /* of the first row; letters are smaller */
};

static void print_row(const struct otelbase_option *row)
{
    const int margin = 19;
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

int otelbase_options_help(const struct otelbase_program *program)
{
    (void)puts(program->head);
    for (size_t i = 0; i < program->count; i++)
        print_row(&program->options[i]);
    (void)printf("\n%s\n", program->tail);
    return otelbase_flush(stdout) != 0;
}

int otelbase_options_version(const struct otelbase_program *program)
{
    (void)printf("%s " OTELCTX_VERSION "\n", program->name);
    return otelbase_flush(stdout) != 0;
}

int otelbase_options_complain(const struct otelbase_program *program,
                              const char *what, const char *argument)
{
    const char *const quote = argument ? "\"" : "";
    char text[128] = "";

    if (argument)
        otelbase_escape_copy(text, sizeof(text), argument, strlen(argument));
    (void)fprintf(stderr, "%s: %s%s%s%s%s\n%s: --help shows how it is used\n",
                  program->name, what, argument ? " " : "", quote, text, quote,
                  program->name);
    return OTELBASE_USAGE;
}

/* What getopt_long() wants: the letters, and the names. */
static void describe(const struct otelbase_program *program,
                     char letters[2 * COUNT_MAX + 3],
                     struct option names[COUNT_MAX + 1])
{
    size_t i = 0;

    if (program->has_command)
        *letters++ = '+';
    *letters++ = ':'; /* a missing argument is not a wrong option */
    for (; i < program->count && i < COUNT_MAX; i++) {
        const struct otelbase_option *const row = &program->options[i];

        names[i] = (struct option){
            row->name, row->argument ? required_argument : no_argument, NULL,
            OPTION_FIRST + (int)i};
        if (row->letter)
            *letters++ = row->letter;
        if (row->letter && row->argument)
            *letters++ = ':';
    }
    *letters = '\0';
    names[i] = (struct option){NULL, 0, NULL, 0};
}

/* The row of what getopt_long() returned, or NULL. */
static const struct otelbase_option *
row_of(const struct otelbase_program *program, int option)
{
    for (size_t i = 0; i < program->count; i++)
        if (option == OPTION_FIRST + (int)i ||
            option == program->options[i].letter)
            return &program->options[i];
    return NULL;
}

/* For a short option, getopt_long() tells its letter in optopt. */
static int complain_unknown(const struct otelbase_program *program,
                            const char *word)
{
    const char letter[] = {'-', (char)optopt, '\0'};

    return otelbase_options_complain(
        program, "cannot understand option",
        optopt > 0 && optopt < OPTION_FIRST ? letter : word);
}

/* Returns 0, or an exit status after a message. */
static int take_option(const struct otelbase_program *program, void *result,
                       int option, const char *word)
{
    const struct otelbase_option *const row = row_of(program, option);
    const char *why;

    if (option == ':')
        return otelbase_options_complain(program, program->missing, word);
    if (!row)
        return complain_unknown(program, word);
    why = row->take ? row->take(result, optarg) : NULL;
    if (why)
        return otelbase_options_complain(program, why, optarg);
    if (row->take)
        return 0;
    if (row->argument)
        memcpy((char *)result + row->field, &optarg, sizeof(optarg));
    else
        *(bool *)((char *)result + row->field) = true;
    return 0;
}

int otelbase_options_parse(const struct otelbase_program *program, void *result,
                           int argc, char **argv)
{
    char letters[2 * COUNT_MAX + 3];
    struct option names[COUNT_MAX + 1];
    int status = 0;
    int option;

    describe(program, letters, names);
    opterr = 0;
    while (status == 0 &&
           (option = getopt_long(argc, argv, letters, names, NULL)) != -1)
        status = take_option(program, result, option, argv[optind - 1]);
    return status;
}
