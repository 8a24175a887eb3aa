/* SPDX-License-Identifier: Apache-2.0 */
#include "config/check.h"

#include <criterion/criterion.h>

struct row {
    enum otelctx_option_id id;
    const char *value;
    size_t pos; /* of the fault; 0: none */
};

Test(check, finds_the_first_fault_of_a_value)
{
    static const struct row rows[] = {
        {OTELCTX_OPTION_RESOURCE_ATTRIBUTES, "", 0},
        {OTELCTX_OPTION_RESOURCE_ATTRIBUTES, "a=1,threadlocal.b=2", 5},
        {OTELCTX_OPTION_RESOURCE_ATTRIBUTES, "a=1,b", 5},
        {OTELCTX_OPTION_ENTITIES, "service{service.name=a}", 0},
        {OTELCTX_OPTION_ENTITIES, "garbage{", 9},
        {OTELCTX_OPTION_ATTRIBUTE_KEYS, "a,b,a", 0},
        {OTELCTX_OPTION_TRACEPARENT, "00-1", 5},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct otelctx_fault fault = {0};
        const int err = otelctx_check_value(
            rows[i].id, otelctx_span_from(rows[i].value), &fault);

        cr_expect_eq(err != 0, rows[i].pos > 0, "%s", rows[i].value);
        cr_expect_eq(err ? fault.pos : 0, rows[i].pos, "%s: %zu", rows[i].value,
                     fault.pos);
    }
}

Test(check, doubts_what_is_hardly_meant)
{
    static const struct row rows[] = {
        {OTELCTX_OPTION_INCLUDE_PATHS, "/bin/*,worker", 8},
        {OTELCTX_OPTION_EXCLUDE_PATHS, "*/worker", 0},
        {OTELCTX_OPTION_RESOURCE_ATTRIBUTES, "a=1,b=x%0Ay", 5},
        {OTELCTX_OPTION_SERVICE_NAME, "sh\nop", 3},
        {OTELCTX_OPTION_SERVICE_NAME, "shop", 0},
        {OTELCTX_OPTION_SCHEMA_VERSION, "unheard_of", 1},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct otelctx_fault fault = {0};
        const bool doubted = otelctx_check_doubt(
            rows[i].id, otelctx_span_from(rows[i].value), &fault);

        cr_expect_eq(doubted, rows[i].pos > 0, "%s", rows[i].value);
        cr_expect_eq(doubted ? fault.pos : 0, rows[i].pos, "%s: %zu",
                     rows[i].value, fault.pos);
    }
}

Test(check, finds_no_keys_without_tls_and_in_the_schema_of_go)
{
    struct otelctx_options options = {.thread_storage = OTELCTX_STORAGE_TLS |
                                                        OTELCTX_STORAGE_RING};

    cr_expect_null(otelctx_check_keys(&options));
    options.schema_version = OTELCTX_SPAN("go_pprof_labels_v1");
    cr_expect_not_null(otelctx_check_keys(&options));
    options.schema_version = OTELCTX_SPAN("");
    options.thread_storage = OTELCTX_STORAGE_RING;
    cr_expect_not_null(otelctx_check_keys(&options));
}
