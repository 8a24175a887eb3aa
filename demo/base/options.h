/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The exit status for a command line that cannot be understood. */
#define OTELBASE_USAGE 2

/* A row of the table from which a command line is read and --help printed. */
struct otelbase_option {
    const char *name;
    char letter;          /* or 0 */
    const char *argument; /* what it is called, or NULL */
    size_t
        field; /* in the result: a bool, or with an argument a const char * */
    const char *help; /* lines of at most 61 characters */
    /* In place of field. Returns NULL, or what is wrong with the value. */
    const char *(*take)(void *result, const char *value);
};

struct otelbase_program {
    const char *name;
    const char *head, *tail; /* of --help, around the options */
    const struct otelbase_option *options;
    size_t count;
    const char *missing; /* what an option lacks without its argument */
    bool has_command; /* options behind the first word are not the program's */
};

/*
 * Reads the options into result, and leaves optind at the first other word, as
 * getopt_long(3). Returns 0, or OTELBASE_USAGE after a message.
 */
int otelbase_options_parse(const struct otelbase_program *program, void *result,
                           int argc, char **argv);

/* Prints that message; the argument may be NULL. Returns OTELBASE_USAGE. */
int otelbase_options_complain(const struct otelbase_program *program,
                              const char *what, const char *argument);

/* What --help and --version print. They return 0, or 1 if that failed. */
int otelbase_options_help(const struct otelbase_program *program);
int otelbase_options_version(const struct otelbase_program *program);
