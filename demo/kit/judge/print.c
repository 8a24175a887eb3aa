/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/judge/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *verdict_of(const struct otelkit_result *result)
{
    return otelkit_verdict_name(result->verdict);
}

void otelkit_table_print(const struct otelkit_trial *trial)
{
    int width = 8;
    const char *between = "";

    for (size_t i = 0; i < trial->count; i++) {
        const int size = (int)strlen(trial->results[i].scenario->name);

        width = size > width ? size : width;
    }
    (void)printf("%-*s  %-8s %-8s %-10s %s\n", width, "scenario", "expected",
                 "got", "verdict", "rule");
    for (size_t i = 0; i < trial->count; i++) {
        const struct otelkit_result *const one = &trial->results[i];

        (void)printf("%-*s  %-8s %-8s %-10s %s%s%s%s\n", width,
                     one->scenario->name, one->expected, one->got,
                     verdict_of(one), one->scenario->rule,
                     one->why[0] != '\0' ? " (" : "", one->why,
                     one->why[0] != '\0' ? ")" : "");
    }
    (void)printf("\n");
    for (int verdict = 0; verdict < OTELKIT_VERDICTS; verdict++) {
        const size_t count =
            otelkit_trial_count(trial, (enum otelkit_verdict)verdict);

        if (count == 0)
            continue;
        (void)printf("%s%zu %s", between, count,
                     otelkit_verdict_name((enum otelkit_verdict)verdict));
        between = ", ";
    }
    (void)printf("\n");
}

/* Prints a string that is valid in JSON and in XML: texts are the kit's own,
 * messages nearly all. */
static void escaped_print(const char *text, bool xml)
{
    for (; *text != '\0'; text++) {
        const unsigned char one = (unsigned char)*text;

        if (one < ' ' || one == 127)
            (void)printf(xml ? "?" : "\\u%04x", one);
        else if (xml && strchr("<>&\"'", one))
            (void)printf("&#%d;", one);
        else if (!xml && (one == '"' || one == '\\'))
            (void)printf("\\%c", one);
        else
            (void)putchar(one);
    }
}

void otelkit_json_print(const struct otelkit_trial *trial)
{
    for (size_t i = 0; i < trial->count; i++) {
        const struct otelkit_result *const one = &trial->results[i];

        (void)printf("{\"scenario\":\"%s\",\"rule\":\"%s\","
                     "\"expected\":\"%s\",\"got\":\"",
                     one->scenario->name, one->scenario->rule, one->expected);
        escaped_print(one->got, false);
        (void)printf("\",\"verdict\":\"%s\",\"message\":\"", verdict_of(one));
        escaped_print(one->why, false);
        (void)printf("\",\"lasted_ns\":\"%" PRIu64 "\"}\n", one->lasted_ns);
    }
}

/* "header/version-3" is the case version-3 of the class header. */
static void junit_print_case(const struct otelkit_result *one)
{
    const char *const slash = strchr(one->scenario->name, '/');

    (void)printf("    <testcase classname=\"%.*s\" name=\"%s\" "
                 "time=\"%" PRIu64 ".%03" PRIu64 "\"",
                 (int)(slash - one->scenario->name), one->scenario->name,
                 slash + 1, one->lasted_ns / 1000000000,
                 one->lasted_ns / 1000000 % 1000);
    if (one->verdict == OTELKIT_RIGHT) {
        (void)printf("/>\n");
        return;
    }
    (void)printf(">\n      <%s message=\"%s: ",
                 one->verdict == OTELKIT_NOT_STAGED ? "skipped" : "failure",
                 verdict_of(one));
    escaped_print(one->why, true);
    (void)printf(" (");
    escaped_print(one->scenario->rule, true);
    (void)printf(")\"/>\n    </testcase>\n");
}

void otelkit_junit_print(const struct otelkit_trial *trial)
{
    const size_t skipped = otelkit_trial_count(trial, OTELKIT_NOT_STAGED);
    const size_t failures =
        trial->count - skipped - otelkit_trial_count(trial, OTELKIT_RIGHT);

    (void)printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<testsuites>\n"
                 "  <testsuite name=\"otelctx-judge\" tests=\"%zu\" "
                 "failures=\"%zu\" skipped=\"%zu\">\n",
                 trial->count, failures, skipped);
    for (size_t i = 0; i < trial->count; i++)
        junit_print_case(&trial->results[i]);
    (void)printf("  </testsuite>\n</testsuites>\n");
}
