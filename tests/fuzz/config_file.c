/* SPDX-License-Identifier: Apache-2.0 */
#include "config/file.h"

#include "config/options.h"
#include "tests/fuzz/fuzz.h"

/* Any configuration file, in memory without spare bytes. */
static bool within(struct otelctx_span part, const char *at, size_t size)
{
    return part.at >= at && part.size <= size &&
           (size_t)(part.at - at) <= size - part.size;
}

static bool is_trimmed(struct otelctx_span s)
{
    const struct otelctx_span trimmed = otelctx_span_trim(s);

    return trimmed.size == s.size;
}

static void check_fault(int err, const struct otelctx_fault *fault, size_t size)
{
    require(err == -EINVAL);
    require(fault->pos >= 1 && fault->pos <= size + 1);
    require(fault->why && fault->why[0]);
}

static void check_setting(struct otelctx_span name, struct otelctx_span value,
                          const char *text, size_t size)
{
    require(name.size > 0 && name.at[0] != '#');
    require(within(name, text, size) && within(value, text, size));
    require(is_trimmed(name) && is_trimmed(value));
    require(!memchr(name.at, '=', name.size));
    require(!memchr(name.at, '\n', name.size));
    require(!value.size || !memchr(value.at, '\n', value.size));
    require(!value.size || !memchr(value.at, '\0', value.size));
}

static bool options_are_sane(const struct otelctx_options *options)
{
    const struct otelctx_span name = options->service_name;

    return options->log_level <= OTELCTX_LOG_DEBUG &&
           options->sdk_disabled <= 1 && options->disabled <= 1 &&
           options->publish <= OTELCTX_PUBLISH_CONFIGURED &&
           options->config_file.at &&
           otelbase_utf8_span((const void *)name.at, name.size) == name.size;
}

static void apply(struct otelctx_options *options, struct otelctx_span name,
                  struct otelctx_span value)
{
    const enum otelctx_option_id id = otelctx_options_find(name);
    const struct otelctx_span unset = {NULL, 0};
    struct otelctx_options defaulted = *options;
    struct otelctx_fault fault = {.pos = 0}, none;
    int err;

    if (id == OTELCTX_OPTION_COUNT)
        return;
    err = otelctx_options_apply(options, id, value, &fault);
    if (err) {
        check_fault(err, &fault, value.size);
        (void)otelctx_options_apply(&defaulted, id, unset, &none);
        require(memcmp(options, &defaulted, sizeof(defaulted)) == 0);
    }
    require(options_are_sane(options));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1);
    struct otelctx_file file = {.rest = {text, size}};
    struct otelctx_options options;
    uint32_t line = 0;
    int got = 1;

    if (size > 0)
        memcpy(text, data, size);
    otelctx_options_set_defaults(&options);
    while (got != 0) {
        struct otelctx_fault fault = {.pos = 0};
        struct otelctx_span name, value;

        got = otelctx_file_next(&file, &name, &value, &fault);
        require(file.line <= size && (got == 0 || file.line > line));
        line = file.line;
        if (got < 0)
            check_fault(got, &fault, size);
        if (got <= 0)
            continue;
        check_setting(name, value, text, size);
        apply(&options, name, value);
    }
    free(text);
    return 0;
}
