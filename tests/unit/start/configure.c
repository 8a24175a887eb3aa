/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/configure.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/process/context.h"
#include "shim/process/instance_id.h"
#include "shim/process/state.h"
#include "shim/process/versions.h"
#include "tests/support/hear.h"
#include "tests/support/own_context.h"

static struct otelctx_settings settings;
static char many[70000]; /* "xxx..." */
static int stderr_end;

static void begin(void)
{
    memset(many, 'x', sizeof(many) - 1);
    clearenv();
    setenv("OTELCTX_CONFIG_FILE", "/dev/null", 1);
    setenv("OTELCTX_LOG_LEVEL", "warn", 1);
    stderr_end = hear();
}

static void end(void)
{
    otelctx_settings_close(&settings);
}

TestSuite(configure, .init = begin, .fini = end);
TestSuite(keys, .init = begin, .fini = end);

/* Stage what the environment says, and publish it; how many attributes. */
static int stage(void)
{
    int count;

    (void)otelctx_settings_open(&settings, true);
    cr_assert_eq(otelctx_state_lock(), 0);
    count = otelctx_stage(&settings);
    cr_assert_eq(otelctx_context_publish(), 0);
    return count;
}

/* Is this told, after what is said of the file? */
static void expect_told(const char *text)
{
    const char *const said = heard(stderr_end);

    cr_expect(strstr(said, text), "%s", said);
}

static void expect_nothing_told(void)
{
    const char *const said = heard(stderr_end);

    cr_expect_null(strstr(said, "byte"), "%s", said);
}

static bool has_default_name(void)
{
    static const char start[] = "unknown_service:";

    return own_context_holds(start, sizeof(start) - 1);
}

/* ---- Attributes ---------------------------------------------------------- */

Test(configure, counts_the_attributes_that_the_user_gave)
{
    setenv("OTEL_SERVICE_NAME", "name", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1,b=2", 1);
    setenv("OTELCTX_EXTRA_ATTRIBUTES", "c=3", 1);
    setenv("OTELCTX_ATTRIBUTE_KEYS", "http.route", 1);
    cr_expect_eq(stage(), 4);
    cr_expect(own_context_has("service.name", "name"));
    cr_expect(own_context_has("a", "1"));
    cr_expect(own_context_has("b", "2"));
    cr_expect(own_context_has("c", "3"));
    cr_expect(own_context_has_key("http.route"));
    expect_nothing_told();
}

Test(configure, counts_none_where_the_user_gave_none)
{
    cr_expect_eq(stage(), 0);
    cr_expect(has_default_name());
    expect_nothing_told();
}

Test(configure, puts_extra_attributes_beside_the_resource)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1", 1);
    setenv("OTELCTX_EXTRA_ATTRIBUTES", "c=3", 1);
    (void)stage();
    cr_expect(otelctx_payload_has(otelctx_versions_published(),
                                  OTELCTX_RESOURCE, OTELCTX_SPAN("a")));
    cr_expect(otelctx_payload_has(otelctx_versions_published(), OTELCTX_EXTRA,
                                  OTELCTX_SPAN("c")));
    cr_expect_not(otelctx_payload_has(otelctx_versions_published(),
                                      OTELCTX_RESOURCE, OTELCTX_SPAN("c")));
}

Test(configure, takes_the_service_name_literally_and_before_the_attributes)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=attribute,a=1", 1);
    setenv("OTEL_SERVICE_NAME", "100%,a=b", 1);
    (void)stage();
    cr_expect(own_context_has("service.name", "100%,a=b"));
    cr_expect(own_context_has("a", "1"));
    cr_expect_not(own_context_has("service.name", "attribute"));
}

Test(configure, takes_an_empty_service_name_for_none)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=", 1);
    cr_expect_eq(stage(), 0);
    cr_expect(has_default_name());
    expect_nothing_told();
}

Test(configure, takes_an_empty_service_name_after_another_for_none)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=x,a=,service.name= ", 1);
    (void)stage();
    cr_expect(has_default_name());
    cr_expect(own_context_has("a", ""));
    expect_nothing_told();
}

Test(configure, keeps_an_entitys_name_before_an_empty_one)
{
    setenv("OTEL_ENTITIES", "service{service.name=shop}", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=", 1);
    (void)stage();
    cr_expect(own_context_has("service.name", "shop"));
    expect_nothing_told();
}

Test(configure, discards_the_whole_of_a_variable_with_a_fault_and_no_other)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=attribute,a=1,b", 1);
    setenv("OTELCTX_EXTRA_ATTRIBUTES", "c=3", 1);
    cr_expect_eq(stage(), 1);
    cr_expect_not(own_context_has("a", "1"));
    cr_expect(has_default_name());
    cr_expect(own_context_has("c", "3"));
    expect_told("error: OTEL_RESOURCE_ATTRIBUTES: byte 28: \"b\"");
}

Test(configure, keeps_the_service_name_whatever_is_wrong_with_the_attributes)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1,b", 1);
    setenv("OTEL_SERVICE_NAME", "name", 1);
    cr_expect_eq(stage(), 1);
    cr_expect(own_context_has("service.name", "name"));
}

Test(configure, keeps_the_resource_whatever_is_wrong_with_the_extra_attributes)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1", 1);
    setenv("OTELCTX_EXTRA_ATTRIBUTES", "b=2,c=%xx", 1);
    cr_expect_eq(stage(), 1);
    cr_expect(own_context_has("a", "1"));
    cr_expect_not(own_context_has("b", "2"));
    expect_told("error: OTELCTX_EXTRA_ATTRIBUTES: byte ");
}

Test(configure, refuses_keys_that_are_the_shims_own)
{
    setenv("OTELCTX_EXTRA_ATTRIBUTES", "b=2,threadlocal.x=1", 1);
    cr_expect_eq(stage(), 0);
    cr_expect_not(own_context_has("b", "2"));
    expect_told("byte 5: \"threadlocal.x=1\": expected a key that does not "
                "begin with \"threadlocal.\"");
}

Test(configure, refuses_a_service_name_that_is_too_long_and_no_attributes)
{
    setenv("OTEL_SERVICE_NAME", many, 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1", 1);
    cr_expect_eq(stage(), 1);
    cr_expect(has_default_name());
    cr_expect(own_context_has("a", "1"));
    expect_told("expected a payload of at most 65536 bytes");
}

/* The name needs room, too: it is more important than they are. */
Test(configure, refuses_attributes_that_leave_no_room_for_the_service_name)
{
    many[1] = '=';
    many[65520] = '\0';
    setenv("OTEL_RESOURCE_ATTRIBUTES", many, 1);
    setenv("OTELCTX_SCHEMA_VERSION", "go_pprof_labels_v1", 1);
    cr_expect_eq(stage(), 0);
    cr_expect(has_default_name());
    expect_told("error: OTEL_RESOURCE_ATTRIBUTES: byte 1: ");
}

/* The instance id that the shim of the process which started this one put
 * there is not the user's. */
Test(configure, leaves_an_inherited_instance_id_out)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", OTELCTX_INSTANCE_KEY "=id", 1);
    setenv("OTELCTX_EXPORTED_ID", "id", 1);
    cr_expect_eq(stage(), 0);
    cr_expect_not(own_context_has(OTELCTX_INSTANCE_KEY, "id"));
}

Test(configure, keeps_an_instance_id_of_the_users)
{
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=id," OTELCTX_INSTANCE_KEY "=mine", 1);
    setenv("OTELCTX_EXPORTED_ID", "id", 1);
    cr_expect_eq(stage(), 2);
    cr_expect(own_context_has(OTELCTX_INSTANCE_KEY, "mine"));
    cr_expect(own_context_has("a", "id"));
}

/* ---- Keys and schema ----------------------------------------------------- */

Test(keys, have_indexes_in_the_order_that_the_user_gave)
{
    setenv("OTELCTX_ATTRIBUTE_KEYS", "a, b ,,a,c", 1);
    (void)stage();
    cr_expect_eq(otelctx_context_key(OTELCTX_SPAN("a")), 0);
    cr_expect_eq(otelctx_context_key(OTELCTX_SPAN("b")), 1);
    cr_expect_eq(otelctx_context_key(OTELCTX_SPAN("c")), 2);
    expect_nothing_told();
}

Test(keys, are_all_discarded_when_one_is_wrong)
{
    setenv("OTELCTX_ATTRIBUTE_KEYS", "a,b\xff,c", 1);
    (void)stage();
    cr_expect_not(otelctx_context_has_key(0));
    cr_expect_not(own_context_has_key("a"));
    expect_told("error: OTELCTX_ATTRIBUTE_KEYS: byte ");
}

Test(keys, are_discarded_by_a_schema_that_has_none)
{
    setenv("OTELCTX_SCHEMA_VERSION", "go_pprof_labels_v1", 1);
    setenv("OTELCTX_ATTRIBUTE_KEYS", "a", 1);
    (void)stage();
    cr_expect_not(otelctx_context_has_key(0));
    cr_expect(
        own_context_has("threadlocal.schema_version", "go_pprof_labels_v1"));
    expect_told("expected no keys: this OTELCTX_SCHEMA_VERSION has none");
}

Test(keys, are_256_at_most)
{
    char text[257 * 4 + 1], *at = text;

    for (unsigned i = 0; i < 257; i++)
        at += sprintf(at, "%03u,", i);
    setenv("OTELCTX_ATTRIBUTE_KEYS", text, 1);
    (void)stage();
    cr_expect_not(otelctx_context_has_key(0));
    expect_told("byte 1025: \"256,\": expected at most 256 keys");
}

Test(keys, are_in_the_default_schema)
{
    (void)stage();
    cr_expect(own_context_has("threadlocal.schema_version", "tlsdesc_v1_dev"));
    expect_nothing_told();
}

Test(keys, are_in_a_schema_that_no_reader_knows_with_a_warning)
{
    setenv("OTELCTX_SCHEMA_VERSION", "tls_v2", 1);
    (void)stage();
    cr_expect(own_context_has("threadlocal.schema_version", "tls_v2"));
    expect_told("warn: OTELCTX_SCHEMA_VERSION: byte 1: \"tls_v2\": expected "
                "tlsdesc_v1_dev");
}

Test(keys, are_in_the_default_schema_when_the_name_is_too_long)
{
    many[128] = '\0';
    setenv("OTELCTX_SCHEMA_VERSION", many, 1);
    (void)stage();
    cr_expect(own_context_has("threadlocal.schema_version", "tlsdesc_v1_dev"));
    expect_told("error: OTELCTX_SCHEMA_VERSION: byte 128: \"x\": expected at "
                "most 127 bytes");
}

/* ---- Is there anything to be staged? ------------------------------------- */

static bool has_any_with(const char *name, const char *value)
{
    bool has_any;

    if (name)
        setenv(name, value, 1);
    (void)otelctx_settings_open(&settings, true);
    has_any = otelctx_stage_has_any(&settings);
    otelctx_settings_close(&settings);
    if (name)
        unsetenv(name);
    return has_any;
}

Test(configure, knows_whether_there_is_anything_to_stage)
{
    cr_expect_not(has_any_with(NULL, NULL));
    cr_expect_not(has_any_with("OTELCTX_FORK", "drop"));
    cr_expect_not(has_any_with("OTEL_SERVICE_NAME", ""));
    cr_expect(has_any_with("OTEL_SERVICE_NAME", "x"));
    cr_expect(has_any_with("OTEL_RESOURCE_ATTRIBUTES", "a=b"));
    cr_expect(has_any_with("OTELCTX_EXTRA_ATTRIBUTES", "a=b"));
    cr_expect(has_any_with("OTELCTX_ATTRIBUTE_KEYS", "a"));
    cr_expect(has_any_with("OTELCTX_SCHEMA_VERSION", "tls_v1"));
}
