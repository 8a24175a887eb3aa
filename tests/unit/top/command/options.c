/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/options.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum {
    WORDS = 16
};

static struct oteltop_options options;
static char text[512];
static char *words[WORDS];

/* The words are separated by blanks; an underscore is an empty word. */
static int parse(const char *line)
{
    char *rest = text;
    int count = 0;

    (void)snprintf(text, sizeof(text), "otelctx-top %s", line);
    for (char *word; count < WORDS - 1 && (word = strsep(&rest, " "));)
        words[count++] = strcmp(word, "_") == 0 ? word + 1 : word;
    words[count] = NULL;
    optind = 0; /* getopt_long() begins again */
    oteltop_dimensions_free(&options.by);
    return oteltop_options_parse(&options, count, words);
}

Test(options, without_any_there_is_the_usual)
{
    cr_expect_eq(parse("--all"), 0);
    cr_expect(options.all);
    cr_expect_eq(options.hz, 99);
    cr_expect_eq(options.count, 0);
    cr_expect_eq(options.duration_ns, 0);
    cr_expect_str_eq(options.by_text, "service,process");
    cr_expect_eq(options.by.count, 2);
    cr_expect_not(options.once);
    cr_expect_null(options.record);
    cr_expect_eq(parse("--folded"), 0);
    cr_expect_str_eq(options.by_text, "service,http.route,trace,thread,state");
}

Test(options, letters_and_names_mean_the_same)
{
    cr_expect_eq(parse("-1wn -b trace -f 2m shop 4711"), 0);
    cr_expect(options.once);
    cr_expect(options.wall);
    cr_expect(options.no_stop);
    cr_expect_eq(options.duration_ns, 120000000000);
    cr_expect_eq(options.count, 2);
    cr_expect_str_eq(options.words[0], "shop");
    cr_expect_str_eq(options.by.names[0], "trace");
    cr_expect_eq(parse("4711 --once --wall --no-stop --by trace --for=2m shop"),
                 0);
    cr_expect(options.once);
    cr_expect(options.wall);
    cr_expect(options.no_stop);
    cr_expect_eq(options.duration_ns, 120000000000);
    cr_expect_eq(options.count, 2);
}

Test(options, files_are_named)
{
    cr_expect_eq(parse("--record a --pprof b --otlp-json c --hz 1000"), 0);
    cr_expect_str_eq(options.record, "a");
    cr_expect_str_eq(options.pprof, "b");
    cr_expect_str_eq(options.otlp_json, "c");
    cr_expect_eq(options.hz, 1000);
    cr_expect_eq(parse("--replay -"), 0);
    cr_expect_str_eq(options.replay, "-");
}

Test(options, the_last_one_counts)
{
    cr_expect_eq(parse("--hz 5 --hz 6 --by a,b,c --by d"), 0);
    cr_expect_eq(options.hz, 6);
    cr_expect_eq(options.by.count, 1);
    cr_expect_str_eq(options.by.names[0], "d");
}

static void expect_time(const char *line, uint64_t ns)
{
    cr_expect_eq(parse(line), 0, "%s", line);
    cr_expect_eq(options.duration_ns, ns, "%s", line);
    cr_expect(options.once);
}

Test(options, times_have_units)
{
    expect_time("--for 10s", 10000000000);
    expect_time("--for 10", 10000000000);
    expect_time("--for 500ms", 500000000);
    expect_time("--for 2m", 120000000000);
    expect_time("--for 0001ms", 1000000);
    expect_time("--for 9223372036s", 9223372036000000000);
}

Test(options, help_and_version_go_with_anything)
{
    cr_expect_eq(parse("--help --all 1"), 0);
    cr_expect(options.help);
    cr_expect_eq(parse("-V --replay x --record y"), 0);
    cr_expect(options.version);
}

/* ---- refusals ----------------------------------------------------------- */

static const struct {
    const char *line;
    const char *message;
} refused[] = {
    {"--hz 0", "--hz: not a number from 1 to 1000: \"0\""},
    {"--hz 1001", "--hz: not a number from 1 to 1000: \"1001\""},
    {"--hz -5", "--hz: not a number from 1 to 1000: \"-5\""},
    {"--hz +5", "--hz: not a number from 1 to 1000: \"+5\""},
    {"--hz 9x", "--hz: not a number from 1 to 1000: \"9x\""},
    {"--hz _", "--hz: not a number from 1 to 1000: \"\""},
    {"--hz 99999999999999999999",
     "--hz: not a number from 1 to 1000: \"99999999999999999999\""},
    {"--for 0", "--for: not a time such as 10s, 500ms or 2m: \"0\""},
    {"--for 0s", "--for: not a time such as 10s, 500ms or 2m: \"0s\""},
    {"--for -1s", "--for: not a time such as 10s, 500ms or 2m: \"-1s\""},
    {"--for 1h", "--for: not a time such as 10s, 500ms or 2m: \"1h\""},
    {"--for 1.5s", "--for: not a time such as 10s, 500ms or 2m: \"1.5s\""},
    {"--for s", "--for: not a time such as 10s, 500ms or 2m: \"s\""},
    {"-f _", "--for: not a time such as 10s, 500ms or 2m: \"\""},
    {"--for 9223372037s",
     "--for: not a time such as 10s, 500ms or 2m: \"9223372037s\""},
    {"--for 99999999999999999999ms", "--for: not a time such as 10s, 500ms or "
                                     "2m: \"99999999999999999999ms\""},
    {"--by _", "--by: a name is empty: \"\""},
    {"--by a,,b", "--by: a name is empty: \"a,,b\""},
    {"--by ,a", "--by: a name is empty: \",a\""},
    {"-b a,", "--by: a name is empty: \"a,\""},
    {"-b 1,2,3,4,5,6,7,8,9", "--by: more than 8 names: \"1,2,3,4,5,6,7,8,9\""},
    {"--by", "an argument is missing behind \"--by\""},
    {"-b", "an argument is missing behind \"-b\""},
    {"-1b", "an argument is missing behind \"-1b\""},
    {"--record", "an argument is missing behind \"--record\""},
    {"--replay", "an argument is missing behind \"--replay\""},
    {"--for", "an argument is missing behind \"--for\""},
    {"-x", "cannot understand option \"-x\""},
    {"-1x", "cannot understand option \"-x\""},
    {"-x1", "cannot understand option \"-x\""},
    {"--once -x1", "cannot understand option \"-x\""},
    {"shop -1xw", "cannot understand option \"-x\""},
    {"--unknown", "cannot understand option \"--unknown\""},
    {"--once=3 shop", "cannot understand option \"--once=3\""},
    {"--re x", "cannot understand option \"--re\""},
    {"-\033[2J", "cannot understand option \"-\\x1b\""},
    {"0", "not a process number: \"0\""},
    {"1 99999999999", "not a process number: \"99999999999\""},
    {"--all 1", "--all goes without processes: \"1\""},
    {"1 -a", "--all goes without processes: \"1\""},
    {"--replay x 1", "--replay goes without processes: \"x\""},
    {"--replay x --all", "--replay goes without processes: \"x\""},
    {"--replay x --record y", "--replay goes without --record: \"y\""},
};

Test(options, a_refusal_names_what_is_wrong, .init = cr_redirect_stderr)
{
    char expected[16384] = "";

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        cr_expect_eq(parse(refused[i].line), 2, "%s", refused[i].line);
        (void)snprintf(expected + strlen(expected),
                       sizeof(expected) - strlen(expected),
                       "otelctx-top: %s\n"
                       "otelctx-top: --help shows how it is used\n",
                       refused[i].message);
    }
    (void)fflush(stderr);
    cr_expect_stderr_eq_str(expected);
}

Test(options, the_usage_names_all_options, .init = cr_redirect_stdout)
{
    static const char *const names[] = {
        "-a, --all",  "-b, --by LIST", "-1, --once",   "-f, --for TIME",
        "-w, --wall", "-n, --no-stop", "--hz N",       "--record FILE",
        "--replay F", "--folded",      "--pprof FILE", "--otlp-json FILE",
        "-h, --help", "-V, --version"};
    static char printed[8192];
    FILE *out;
    size_t size;

    cr_expect_eq(otelbase_options_help(&oteltop_program), 0);
    out = cr_get_redirected_stdout();
    size = fread(printed, 1, sizeof(printed) - 1, out);
    printed[size] = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        cr_expect_not_null(strstr(printed, names[i]), "%s", names[i]);
    for (char *rest = printed, *line; (line = strsep(&rest, "\n"));)
        cr_expect_leq(strlen(line), 80, "%s", line);
}
