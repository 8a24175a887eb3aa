/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/settings.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/file.h"
#include "tests/support/child.h"
#include "tests/support/hear.h"

/* Instead of libc's: a process of more privileges, or without the vector. */
static bool secure, is_lost;

unsigned long getauxval(unsigned long type)
{
    unsigned long (*libcs)(unsigned long);

    if (is_lost)
        return 0;
    *(void **)&libcs = dlsym(RTLD_NEXT, "getauxval");
    return type == AT_SECURE && secure ? 1 : libcs(type);
}

static char path[] = "/tmp/otelctx-settings-XXXXXX";
static struct otelctx_settings settings;

/* An environment that names an empty file, and nothing else. */
static void begin(void)
{
    const int fd = mkstemp(path);

    cr_assert_geq(fd, 0);
    close(fd);
    clearenv();
    setenv("OTELCTX_CONFIG_FILE", path, 1);
}

static void end(void)
{
    otelctx_settings_close(&settings);
    (void)unlink(path);
}

TestSuite(settings, .init = begin, .fini = end);
TestSuite(file, .init = begin, .fini = end);
TestSuite(told, .init = begin, .fini = end);
TestSuite(off, .init = begin, .fini = end);

static void write_file(const char *text)
{
    FILE *const file = fopen(path, "w");

    cr_assert(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static void open_settings(void)
{
    cr_assert_eq(otelctx_settings_open(&settings, true), 0);
}

static void expect(struct otelctx_span found, const char *text)
{
    cr_expect(otelctx_span_equal(found, otelctx_span_from(text)),
              "\"%.*s\" and not \"%s\"", (int)found.size, found.at, text);
}

/* What is told of all this, without prefixes; lines end in "\n". */
static const char *told(void)
{
    static char out[1 << 14];
    char prefix[64], *at = out;
    int stderr_end = hear();
    const char *line;

    (void)otelctx_settings_open(&settings, true);
    snprintf(prefix, sizeof(prefix), "otelctx[%d]: ", getpid());
    line = heard(stderr_end);
    *out = '\0';
    while (*line) {
        const size_t size = strcspn(line, "\n") + 1;

        cr_expect_eq(strncmp(line, prefix, strlen(prefix)), 0, "%s", line);
        at = mempcpy(at, line + strlen(prefix), size - strlen(prefix));
        *at = '\0';
        line += size;
    }
    return out;
}

/* An error in the file, which was asked for. */
static void expect_error(const char *rest)
{
    char expected[1024];

    (void)snprintf(expected, sizeof(expected), "error: %s: %s\n", path, rest);
    cr_expect_str_eq(told(), expected);
}

/* ---- Where an option comes from ------------------------------------------ */

Test(settings, are_the_defaults_where_nobody_says_anything)
{
    open_settings();
    cr_expect_eq(settings.options.log_level, OTELCTX_LOG_ERROR);
    cr_expect_eq(settings.options.publish, OTELCTX_PUBLISH_ALWAYS);
    cr_expect_null(settings.options.service_name.at);
    cr_expect_eq(settings.mistakes_count, 0);
}

Test(settings, come_from_the_environment_before_the_file)
{
    write_file("OTEL_SERVICE_NAME=file\n"
               "OTELCTX_PUBLISH=configured\n"
               "OTEL_RESOURCE_ATTRIBUTES=a=file,b=file\n");
    setenv("OTEL_SERVICE_NAME", "environment", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=environment", 1);
    open_settings();
    expect(settings.options.service_name, "environment");
    expect(settings.options.resource_attributes, "a=environment");
    cr_expect_eq(settings.options.publish, OTELCTX_PUBLISH_CONFIGURED);
    cr_expect_eq(settings.source[OTELCTX_OPTION_SERVICE_NAME].line, 0);
    cr_expect_eq(settings.source[OTELCTX_OPTION_PUBLISH].line, 2);
}

Test(settings, are_unset_where_the_environment_is_empty)
{
    write_file("OTEL_SERVICE_NAME=file\n");
    setenv("OTEL_SERVICE_NAME", "", 1);
    open_settings();
    expect(settings.options.service_name, "file");
}

/* "Each variable is taken whole from the first place that has it." */
Test(settings, that_are_wrong_in_the_environment_are_not_taken_from_the_file)
{
    write_file("OTELCTX_PUBLISH=configured\n");
    setenv("OTELCTX_PUBLISH", "sometimes", 1);
    cr_expect(strstr(told(), "\"sometimes\""));
    cr_expect_eq(settings.options.publish, OTELCTX_PUBLISH_ALWAYS);
}

Test(settings, of_a_process_with_privileges_do_not_come_from_the_environment)
{
    setenv("OTEL_SERVICE_NAME", "environment", 1);
    setenv("OTELCTX_DISABLED", "true", 1);
    secure = true;
    open_settings();
    cr_expect_null(settings.options.service_name.at);
    expect(settings.options.config_file, "/etc/otelctx/otelctx.conf");
}

/* ---- The file ------------------------------------------------------------ */

Test(file, counts_with_its_last_line_for_an_option)
{
    write_file("OTEL_SERVICE_NAME=first\nOTEL_SERVICE_NAME=second\n"
               "OTELCTX_EXTRA_ATTRIBUTES=a=b\nOTELCTX_EXTRA_ATTRIBUTES=\n");
    open_settings();
    expect(settings.options.service_name, "second");
    cr_expect_eq(settings.source[OTELCTX_OPTION_SERVICE_NAME].line, 2);
    cr_expect_null(settings.options.extra_attributes.at);
}

Test(file, says_what_is_told_of_itself)
{
    write_file("OTELCTX_PUBLISH=sometimes\nOTELCTX_LOG_LEVEL=none\n");
    cr_expect_str_eq(told(), "");
}

/* What is one process's is in the environment. */
Test(file, cannot_say_what_belongs_to_one_process)
{
    static const char *const names[] = {"OTELCTX_CONFIG_FILE", "TRACEPARENT",
                                        "OTELCTX_EXPORTED_ID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char line[128];

        snprintf(line, sizeof(line), "%s=x\n", names[i]);
        write_file(line);
        cr_expect(strstr(told(), "expected it in the environment"), "%s",
                  names[i]);
        otelctx_settings_close(&settings);
    }
}

Test(file, is_told_with_the_line_and_what_becomes_of_it)
{
    write_file("# a comment\nOTELCTX_PUBLISH=sometimes\n");
    expect_error("line 2: OTELCTX_PUBLISH: byte 1: \"sometimes\": "
                 "expected always|configured; the default counts");
}

Test(file, is_told_of_a_name_that_is_no_option)
{
    write_file("OTELCTX_LOGLEVEL=info\n");
    expect_error("line 1: byte 1: \"OTELCTX_LOGLEVEL=info\": "
                 "expected the name of an option");
}

Test(file, is_told_of_ten_mistakes_at_most)
{
    const char *said;
    unsigned lines = 0;

    write_file("A\nB\nC\nD\nE\nF\nG\nH\nI\nJ\nK\nL\nOTEL_SERVICE_NAME=name\n");
    said = told();
    for (const char *at = said; (at = strchr(at, '\n')); at++)
        lines++;
    cr_expect_eq(lines, OTELCTX_MISTAKES_MAX, "%s", said);
    cr_expect(strstr(said, ": line 10: "));
    expect(settings.options.service_name, "name");
}

Test(file, that_is_missing_is_told_when_it_was_asked_for)
{
    setenv("OTELCTX_CONFIG_FILE", "/nowhere/at/all", 1);
    cr_expect_str_eq(told(), "error: /nowhere/at/all: expected an existing "
                             "file (errno 2)\n");
    cr_expect_eq(settings.file_err, -ENOENT);
}

Test(file, that_is_a_directory_is_told)
{
    setenv("OTELCTX_CONFIG_FILE", "/tmp", 1);
    cr_expect_str_eq(told(),
                     "error: /tmp: expected a regular file (errno 22)\n");
}

Test(file, that_is_too_long_is_told_and_does_not_count)
{
    char text[OTELCTX_FILE_MAX + 2];

    memset(text, '#', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text, "OTEL_SERVICE_NAME=x\n", 20);
    write_file(text);
    expect_error("expected at most 65536 bytes (errno 27)");
    cr_expect_null(settings.options.service_name.at);
    otelctx_settings_close(&settings);

    text[OTELCTX_FILE_MAX] = '\0';
    write_file(text);
    open_settings();
    expect(settings.options.service_name, "x");
}

Test(file, whose_path_is_too_long_for_any_is_told)
{
    char name[5000];

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    setenv("OTELCTX_CONFIG_FILE", name, 1);
    cr_expect(strstr(told(), "(errno 36)\n"));
}

/* ---- What is told -------------------------------------------------------- */

Test(told, of_a_correct_configuration_is_nothing)
{
    setenv("OTEL_SERVICE_NAME", "name", 1);
    write_file("OTELCTX_PUBLISH=always\n");
    cr_expect_str_eq(told(), "");
}

Test(told, is_nothing_unless_aloud)
{
    const int stderr_end = hear();

    setenv("OTELCTX_PUBLISH", "sometimes", 1);
    setenv("OTELCTX_LOG_LEVEL", "debug", 1);
    cr_expect_eq(otelctx_settings_open(&settings, false), 0);
    otelctx_settings_fault(&settings, OTELCTX_OPTION_PUBLISH, OTELCTX_DISCARDED,
                           1, "something else");
    cr_expect_str_eq(heard(stderr_end), "");
}

Test(told, is_that_a_wrong_switch_leaves_the_shim_on)
{
    setenv("OTELCTX_DISABLED", "1", 1);
    cr_expect_str_eq(told(), "error: OTELCTX_DISABLED: byte 1: \"1\": "
                             "expected false|true; the shim stays on\n");
}

Test(told, is_the_byte_and_what_becomes_of_the_variable)
{
    const int stderr_end = hear();
    const char *said;

    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=b,c", 1);
    open_settings();
    otelctx_settings_fault(&settings, OTELCTX_OPTION_RESOURCE_ATTRIBUTES,
                           OTELCTX_DISCARDED, 5, "a reason");
    otelctx_settings_fault(&settings, OTELCTX_OPTION_RESOURCE_ATTRIBUTES,
                           OTELCTX_COUNTS, 1, "told at warn, so not here");
    said = strchr(heard(stderr_end), ' ');
    cr_expect_str_eq(said, " error: OTEL_RESOURCE_ATTRIBUTES: byte 5: \"c\": "
                           "expected a reason; all of the variable is "
                           "discarded\n");
}

Test(told, at_warn_are_variables_that_only_look_like_options)
{
    setenv("OTELCTX_LOGLEVEL", "info", 1);
    setenv("OTELCTX_LOGLEVELS", "info", 1);
    cr_expect_str_eq(told(), "");
    setenv("OTELCTX_LOG_LEVEL", "warn", 1);
    cr_expect_str_eq(told(), "warn: unknown variables: 2, first "
                             "\"OTELCTX_LOGLEVEL=info\"\n");
}

Test(told, at_warn_is_a_pattern_that_can_match_nothing)
{
    setenv("OTELCTX_LOG_LEVEL", "warn", 1);
    setenv("OTELCTX_EXCLUDE_PATHS", "/srv/*,python3", 1);
    cr_expect_str_eq(told(), "warn: OTELCTX_EXCLUDE_PATHS: byte 8: "
                             "\"python3\": expected a whole path, as in "
                             "/srv/*\n");
}

Test(told, at_debug_is_where_each_option_comes_from)
{
    setenv("OTELCTX_LOG_LEVEL", "debug", 1);
    unsetenv("OTELCTX_CONFIG_FILE");
    setenv("OTELCTX_CONFIG_FILE", path, 1);
    write_file("OTEL_SERVICE_NAME=name\n");
    cr_expect(strstr(told(), "debug: OTELCTX_LOG_LEVEL: 5 bytes from the "
                             "environment\n"));
    cr_expect(strstr(told(), "debug: OTEL_SERVICE_NAME: 4 bytes from /tmp/"));
}

/* ---- Where the shim does nothing ----------------------------------------- */

static void expect_off(const char *last_line)
{
    const char *said, *line;
    const int stderr_end = hear();

    setenv("OTELCTX_LOG_LEVEL", "debug", 1);
    cr_expect_eq(otelctx_settings_open(&settings, true), -ENOSYS);
    said = heard(stderr_end);
    line = strstr(said, "debug: off because of ");
    cr_expect(line && strcmp(line, last_line) == 0, "%s", said);
}

Test(off, by_the_environment)
{
    setenv("OTELCTX_DISABLED", "true", 1);
    expect_off("debug: off because of OTELCTX_DISABLED: \"true\"\n");
}

Test(off, by_the_switch_of_the_sdks)
{
    setenv("OTEL_SDK_DISABLED", "TRUE", 1);
    expect_off("debug: off because of OTEL_SDK_DISABLED: \"TRUE\"\n");
}

Test(off, by_the_file)
{
    write_file("OTELCTX_DISABLED=true\n");
    expect_off("debug: off because of OTELCTX_DISABLED: \"true\"\n");
}

static bool is_off(void)
{
    return otelctx_settings_open(&settings, true) == -ENOSYS;
}

Test(off, by_the_environment_without_a_system_call)
{
    setenv("OTELCTX_DISABLED", "true", 1);
    setenv("OTELCTX_PUBLISH", "sometimes", 1);
    cr_expect(in_strict_child(is_off));
}

Test(off, by_the_environment_whatever_the_file_says)
{
    setenv("OTELCTX_DISABLED", "true", 1);
    write_file("OTELCTX_DISABLED=false\n");
    cr_expect(is_off());
}

Test(off, where_a_pattern_excludes_the_program)
{
    setenv("OTELCTX_EXCLUDE_PATHS", "/nowhere/*,*/*start_settings", 1);
    setenv("OTELCTX_INCLUDE_PATHS", "*", 1);
    expect_off("debug: off because of OTELCTX_EXCLUDE_PATHS: "
               "\"*/*start_settings\"\n");
}

Test(off, where_no_pattern_includes_it)
{
    setenv("OTELCTX_INCLUDE_PATHS", "/nowhere/*", 1);
    cr_expect(is_off());
    setenv("OTELCTX_INCLUDE_PATHS", "/nowhere/*,*/*start_settings", 1);
    cr_expect_not(is_off());
}

Test(off, where_the_auxiliary_vector_is_not_to_be_had)
{
    is_lost = true;
    cr_expect(is_off());
}

/* It is another program that these are about. */
Test(off, tells_no_fault)
{
    const int stderr_end = hear();

    setenv("OTELCTX_EXCLUDE_PATHS", "*", 1);
    setenv("OTELCTX_PUBLISH", "sometimes", 1);
    cr_expect(is_off());
    cr_expect_str_eq(heard(stderr_end), "");
}
