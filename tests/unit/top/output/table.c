/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct oteltop_row row;
static char value[64];
static char command[64];
static char *line;

static void end(void)
{
    free(line);
    line = NULL;
}

TestSuite(table, .fini = end);

static const char *draw(const struct oteltop_style *style)
{
    size_t size;

    end();
    row.value = value;
    row.command = command;
    FILE *const out = open_memstream(&line, &size);
    oteltop_table_row(out, &row, 1000000000, style);
    (void)fclose(out);
    return line;
}

static void expect_row(const char *expected)
{
    cr_expect_str_eq(draw(&(struct oteltop_style){.width = 0}), expected, "%s|",
                     line);
}

Test(table, numbers_are_in_their_columns)
{
    row = (struct oteltop_row){.numbers = {[OTELTOP_CPU] = 123456789,
                                           [OTELTOP_WALL] = 1999900000,
                                           [OTELTOP_SAMPLES] = 198,
                                           [OTELTOP_UNTRUSTED] = 7,
                                           [OTELTOP_THREADS] = 2,
                                           [OTELTOP_PROCESSES] = 1,
                                           [OTELTOP_LONGEST_NS] = 1500000000}};
    strcpy(value, "shop");
    strcpy(command, "python3 app.py");
    expect_row("  12.3  200.0     198       2     1    1.5s  shop              "
               "                python3 app.py");
    cr_expect_str_eq(draw(&(struct oteltop_style){.untrusted = true}),
                     "  12.3  200.0     198      7       2     1    1.5s  shop "
                     "                             python3 app.py");
}

/* Two thousand threads sleep for a second: 200,000 %. */
Test(table, large_numbers_do_not_touch_each_other)
{
    row = (struct oteltop_row){.numbers = {[OTELTOP_CPU] = 999900000000,
                                           [OTELTOP_WALL] = 9999999000000000,
                                           [OTELTOP_SAMPLES] = 99999999999,
                                           [OTELTOP_THREADS] = 99999999999,
                                           [OTELTOP_PROCESSES] = 9999999,
                                           [OTELTOP_LONGEST_NS] = UINT64_MAX}};
    value[0] = command[0] = '\0';
    expect_row(" 99990 999999900 99999999999 99999999999 9999999 18446744074s");
    row = (struct oteltop_row){
        .numbers = {
            [OTELTOP_CPU] = 9999000000, [OTELTOP_WALL] = 1988956000000}};
    expect_row(" 999.9 198896       0       0     0       -");
}

static void expect_length(uint64_t ns, const char *expected)
{
    row = (struct oteltop_row){.numbers = {[OTELTOP_LONGEST_NS] = ns}};
    value[0] = command[0] = '\0';
    cr_expect_str_eq(
        strrchr(draw(&(struct oteltop_style){.width = 0}), ' ') + 1, expected);
}

Test(table, lengths_have_units)
{
    expect_length(0, "-");
    expect_length(400000, "0ms");
    expect_length(999000000, "999ms");
    expect_length(1000000000, "1.0s");
    expect_length(99900000000, "99.9s");
    expect_length(3600000000000, "3600s");
}

Test(table, a_level_is_two_columns_and_the_command_stays_where_it_is)
{
    row = (struct oteltop_row){.depth = 2};
    strcpy(value, "/cart");
    strcpy(command, "x");
    expect_row("   0.0    0.0       0       0     0       -      /cart         "
               "                x");
    strcpy(value, "a value that is longer than its column");
    expect_row("   0.0    0.0       0       0     0       -      a value that "
               "is longer than its column  x");
}

Test(table, colours_tell_services_and_what_is_missing)
{
    const struct oteltop_style style = {.colour = true};

    row = (struct oteltop_row){.depth = 0};
    strcpy(value, "shop");
    cr_expect_eq(strncmp(draw(&style), "\033[1m", 4), 0);
    row.depth = 1;
    cr_expect_eq(strncmp(draw(&style), "   0.0", 6), 0);
    strcpy(value, "(no span)");
    cr_expect_eq(strncmp(draw(&style), "\033[2m", 4), 0);
    cr_expect_str_eq(line + strlen(line) - 4, "\033[0m");
}
