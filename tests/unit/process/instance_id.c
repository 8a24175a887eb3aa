/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/instance_id.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/filter.h"

enum {
    LENGTH = OTELCTX_INSTANCE_SIZE - 1
};

static char id[OTELCTX_INSTANCE_SIZE];

/* The id as a string. */
static const char *text(void)
{
    const struct otelctx_span now = otelctx_instance_id();

    cr_assert_eq(now.size, LENGTH);
    memcpy(id, now.at, LENGTH);
    return id;
}

static void make(void)
{
    otelctx_instance_id_want();
    cr_assert_eq(otelctx_instance_id_make(), 0);
}

/* RFC 9562, "UUID Version 4". */
static bool is_uuid(const char *value)
{
    regex_t pattern;
    bool matches;

    cr_assert_eq(regcomp(&pattern,
                         "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-"
                         "[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
                         REG_EXTENDED | REG_NOSUB),
                 0);
    matches = regexec(&pattern, value, 0, NULL, 0) == 0;
    regfree(&pattern);
    return matches;
}

static void refuse_random(void)
{
    cr_assert_eq(filter_call(SYS_getrandom, SECCOMP_RET_ERRNO | EPERM), 0);
}

Test(instance_id, is_empty_unless_it_is_wanted)
{
    cr_expect_eq(otelctx_instance_id_make(), 0);
    cr_expect_eq(otelctx_instance_id().size, 0);
}

Test(instance_id, is_a_random_uuid)
{
    make();

    cr_expect(is_uuid(text()), "%s", text());
}

Test(instance_id, is_made_once)
{
    char first[OTELCTX_INSTANCE_SIZE];

    make();
    memcpy(first, text(), sizeof(first));
    cr_expect_eq(otelctx_instance_id_make(), 0);

    cr_expect_str_eq(text(), first);
}

Test(instance_id, without_random_bytes_there_is_none)
{
    refuse_random();
    otelctx_instance_id_want();

    cr_expect_eq(otelctx_instance_id_make(), -EPERM);
    cr_expect_eq(otelctx_instance_id().size, 0);
    cr_expect_eq(otelctx_instance_id_make(), -EPERM, "told again");
}

/* In a forked child. */

Test(instance_id, renewed_is_another_one)
{
    char first[OTELCTX_INSTANCE_SIZE], old[OTELCTX_INSTANCE_SIZE];

    make();
    memcpy(first, text(), sizeof(first));

    cr_expect(otelctx_instance_id_renew(old));
    cr_expect_str_eq(old, first);
    cr_expect(is_uuid(text()), "%s", text());
    cr_expect_str_neq(text(), first);
}

Test(instance_id, renewed_is_another_one_even_without_random_bytes)
{
    char first[OTELCTX_INSTANCE_SIZE], old[OTELCTX_INSTANCE_SIZE];
    size_t same = 0;

    make();
    memcpy(first, text(), sizeof(first));
    refuse_random();

    cr_expect(otelctx_instance_id_renew(old));
    cr_expect(is_uuid(text()), "%s", text());
    for (size_t i = 0; i < LENGTH; i++)
        same += text()[i] == first[i];
    cr_expect_lt(same, LENGTH / 2, "%s, then %s", first, text());
}

Test(instance_id, that_was_never_made_is_not_renewed)
{
    char old[OTELCTX_INSTANCE_SIZE] = "unchanged";

    cr_expect_not(otelctx_instance_id_renew(old));
    cr_expect_str_eq(old, "unchanged");
    cr_expect_eq(otelctx_instance_id().size, 0);
}

/* In memory. */

Test(instance_id, replaces_the_old_one_wherever_that_is)
{
    static const char old[] = "0a29cd2e-5c81-4d5b-9d5c-2f7c2ab1b8a4";
    char memory[256], expected[256];
    int size;

    make();
    (void)snprintf(memory, sizeof(memory), "%s0a29,%s%s", old, old, old);
    size = snprintf(expected, sizeof(expected), "%s0a29,%s%s", text(), text(),
                    text());

    cr_expect_eq(otelctx_instance_id_replace(memory, (size_t)size, old), 3);
    cr_expect_str_eq(memory, expected);
}

Test(instance_id, replaces_nothing_that_is_not_whole)
{
    static const char old[] = "0a29cd2e-5c81-4d5b-9d5c-2f7c2ab1b8a4";
    char memory[] = "0a29cd2e-5c81-4d5b-9d5c-2f7c2ab1b8a4";

    make();

    cr_expect_eq(otelctx_instance_id_replace(memory, LENGTH - 1, old), 0);
    memory[LENGTH - 1] = '5';
    cr_expect_eq(otelctx_instance_id_replace(memory, LENGTH, old), 0);
    cr_expect_eq(otelctx_instance_id_replace(memory, 0, old), 0);
    cr_expect_str_eq(memory, "0a29cd2e-5c81-4d5b-9d5c-2f7c2ab1b8a5");
}

/* In the environment. */

static int export(const char *attributes, const char *inherited)
{
    return otelctx_instance_id_export(otelctx_span_from(attributes),
                                      otelctx_span_from(inherited));
}

/* The variable is this text, with the id for its "%s". */
static void expect_variable(const char *name, const char *format)
{
    const char *const value = getenv(name);
    char expected[512];
    const char *const at = strstr(format, "%s");

    (void)snprintf(expected, sizeof(expected), "%.*s%s%s", (int)(at - format),
                   format, text(), at + 2);
    cr_expect_str_eq(value ? value : "unset", expected);
}

Test(instance_id, exported_stands_behind_the_attributes)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "from=before", 1);
    setenv("OTHER", "value", 1);
    make();

    cr_expect_not(otelctx_instance_id_is_exported());
    cr_expect_eq(export("a=1,b=2", ""), 0);
    cr_expect(otelctx_instance_id_is_exported());
    expect_variable("OTEL_RESOURCE_ATTRIBUTES",
                    "a=1,b=2,service.instance.id=%s");
    expect_variable("OTELCTX_EXPORTED_ID", "%s");
    cr_expect_str_eq(getenv("OTHER"), "value");
}

Test(instance_id, exported_stands_alone_where_there_are_no_attributes)
{
    make();

    cr_expect_eq(export("", ""), 0);
    expect_variable("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=%s");
}

Test(instance_id, exported_takes_the_place_of_the_parents)
{
    static const char parents[] = "0a29cd2e-5c81-4d5b-9d5c-2f7c2ab1b8a4";

    make();

    cr_expect_eq(
        export("service.instance.id=0a29cd2e-5c81-4d5b-9d5c-2f7c2ab1b8a4,a=1",
               parents),
        0);
    expect_variable("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=%s,a=1");
}

Test(instance_id, exported_is_added_where_the_parents_is_gone)
{
    make();

    cr_expect_eq(export("a=1", "0a29cd2e-5c81-4d5b-9d5c-2f7c2ab1b8a4"), 0);
    expect_variable("OTEL_RESOURCE_ATTRIBUTES", "a=1,service.instance.id=%s");
}

Test(instance_id, exported_is_renewed_in_the_environment)
{
    char old[OTELCTX_INSTANCE_SIZE];

    make();
    cr_assert_eq(export("a=1", ""), 0);

    cr_expect(otelctx_instance_id_renew(old));
    expect_variable("OTEL_RESOURCE_ATTRIBUTES", "a=1,service.instance.id=%s");
    expect_variable("OTELCTX_EXPORTED_ID", "%s");
}

/* Rule: execve(2), "Limits on size of arguments and environment". */
Test(instance_id, exported_makes_no_string_that_execve_refuses)
{
    const char *exported;
    static const char around[] =
        "OTEL_RESOURCE_ATTRIBUTES=,service.instance.id=";
    static char many[128 << 10];
    const size_t most = sizeof(many) - sizeof(around) - LENGTH;

    make();
    unsetenv("OTEL_RESOURCE_ATTRIBUTES");
    memset(many, 'x', sizeof(many) - 1);

    many[most + 1] = '\0';
    cr_expect_eq(export(many, ""), -E2BIG);
    cr_expect_null(getenv("OTEL_RESOURCE_ATTRIBUTES"));
    cr_expect_not(otelctx_instance_id_is_exported());
    many[most] = '\0';
    cr_expect_eq(export(many, ""), 0);
    exported = getenv("OTEL_RESOURCE_ATTRIBUTES");
    cr_expect_eq(exported ? strlen(exported) : 0,
                 most + strlen(",service.instance.id=") + LENGTH);
}
