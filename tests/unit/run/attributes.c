/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/attributes.h"

#include <criterion/criterion.h>

#define VARIABLE "OTEL_RESOURCE_ATTRIBUTES"

static struct otelrun_environment environment_of(char *string)
{
    return otelrun_environment_copy((char *[]){string, NULL});
}

/* What becomes of the variable when one attribute is set. */
static const char *with(const char *before, const char *key, const char *value)
{
    struct otelrun_environment e = environment_of((char[]){""});

    otelrun_environment_set(&e, VARIABLE, before);
    otelrun_attributes_set(&e, otelctx_span_from(key),
                           otelctx_span_from(value));
    return otelrun_environment_get(&e, VARIABLE);
}

Test(attributes, encode_what_separates)
{
    cr_expect_str_eq(with("", "a=b", "c,d;e %\"\\"),
                     "a%3Db=c%2Cd%3Be%20%25%22%5C");
}

Test(attributes, keep_what_paths_and_versions_have)
{
    cr_expect_str_eq(with("", "k", "/srv/a-b_c.d~:1@2"), "k=/srv/a-b_c.d~:1@2");
}

Test(attributes, replace_each_of_the_same_key_also_where_it_is_encoded)
{
    cr_expect_str_eq(with("k=1, %6b=2 ,other=3", "k", "4"), "other=3,k=4");
}

Test(attributes, leave_a_malformed_member_for_the_library_to_report)
{
    cr_expect_str_eq(with("bad,a=1", "k", "4"), "bad,a=1,k=4");
}

Test(attributes, are_added_only_where_they_are_not_set)
{
    struct otelrun_environment e = environment_of((char[]){VARIABLE "=a=1,b="});

    otelrun_attributes_add(&e, "a", "2");
    otelrun_attributes_add(&e, "b", "2");
    otelrun_attributes_add(&e, "c", NULL);
    otelrun_attributes_add(&e, "d", "\xff");
    cr_expect_str_eq(otelrun_environment_get(&e, VARIABLE), "a=1,b=2");
}

Test(attributes, have_a_service_name_when_the_variable_names_it)
{
    struct otelrun_environment e =
        environment_of((char[]){"OTEL_SERVICE_NAME=shop"});

    cr_expect(otelrun_attributes_have(&e, OTELCTX_SPAN("service.name")));
    cr_expect_not(otelrun_attributes_have(&e, OTELCTX_SPAN("service.version")));
}

Test(attributes, refuse_what_no_process_may_have)
{
    const struct otelctx_span value = OTELCTX_SPAN("v");

    cr_expect_null(otelrun_attributes_refuse(OTELCTX_SPAN("k"), value));
    cr_expect_str_eq(otelrun_attributes_refuse(OTELCTX_SPAN(""), value),
                     "a key before '='");
    cr_expect_str_eq(
        otelrun_attributes_refuse(OTELCTX_SPAN("k"), OTELCTX_SPAN("\xc3")),
        "valid UTF-8");
}
