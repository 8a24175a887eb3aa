/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/doctor/settings.h"

#include "config/check.h"
#include "config/file.h"
#include "config/glob.h"
#include "config/options.h"
#include "demo/base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* What one program is told. */
struct settings {
    struct otelctx_options options;
    struct otelctx_setting source[OTELCTX_SETTINGS_COUNT];
    char path[4096];
    char *file;
};

/* The lines that the environment leaves to the configuration file. */
static void take_file(struct settings *s, int root)
{
    struct otelctx_file file = {.rest = {s->file, 0}};
    struct otelctx_span name, value;
    struct otelctx_fault fault;
    long size;
    int got;

    size = otelbase_root_read(root, s->path, s->file, OTELCTX_FILE_MAX + 1);
    if (size < 0 || size > OTELCTX_FILE_MAX)
        return;
    file.rest.size = (size_t)size;
    while ((got = otelctx_file_next(&file, &name, &value, &fault)) != 0) {
        const enum otelctx_option_id id =
            got > 0 ? otelctx_options_find(name) : OTELCTX_OPTION_COUNT;
        struct otelctx_setting *const setting = &s->source[id];

        if (id == OTELCTX_OPTION_COUNT ||
            otelctx_option_is_of_environment(id) ||
            (setting->text.at && setting->line == 0))
            continue;
        setting->line = file.line;
        setting->text = value.size > 0 ? value : (struct otelctx_span){NULL, 0};
    }
}

static void apply(struct settings *s)
{
    struct otelctx_fault fault;

    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        (void)otelctx_options_apply(&s->options, id, s->source[id].text,
                                    &fault);
}

static void read_sources(struct settings *s, int root, char *const *envp)
{
    size_t size;

    otelctx_options_read_environment(s->source, envp);
    apply(s);
    size = s->options.config_file.size;
    if (size < sizeof(s->path) && s->file) {
        memcpy(s->path, s->options.config_file.at, size);
        s->path[size] = '\0';
        take_file(s, root);
        apply(s);
    }
}

/* Where a setting is. */
static const char *place_of(const struct settings *s, unsigned id)
{
    return s->source[id].line > 0 ? s->path : "the environment";
}

static bool is_off(const struct settings *s, const char *executable,
                   struct otelrun_checks *checks)
{
    const struct otelctx_options *const o = &s->options;
    const struct otelctx_span path = otelctx_span_from(executable);
    unsigned id = OTELCTX_OPTION_COUNT;

    if (o->sdk_disabled)
        id = OTELCTX_OPTION_SDK_DISABLED;
    else if (o->disabled)
        id = OTELCTX_OPTION_DISABLED;
    else if (o->include_paths.at &&
             !otelctx_glob_find(o->include_paths, path).at)
        id = OTELCTX_OPTION_INCLUDE_PATHS;
    else if (otelctx_glob_find(o->exclude_paths, path).at)
        id = OTELCTX_OPTION_EXCLUDE_PATHS;
    if (id == OTELCTX_OPTION_COUNT)
        return false;
    (void)otelrun_checks_fail(
        checks, OTELRUN_CHECK_SETTINGS, "change or unset that variable",
        "%s=%.*s in %s turns the library off for %s", otelctx_option_name(id),
        (int)s->source[id].text.size, s->source[id].text.at, place_of(s, id),
        executable);
    return true;
}

static bool is_silent(const struct settings *s, struct otelrun_checks *checks)
{
    const struct otelctx_options *const o = &s->options;

    if (o->publish == OTELCTX_PUBLISH_ALWAYS || o->service_name.at ||
        o->resource_attributes.at || o->extra_attributes.at || o->entities.at ||
        o->attribute_keys.at ||
        s->source[OTELCTX_OPTION_SCHEMA_VERSION].text.at)
        return false;
    (void)otelrun_checks_fail(checks, OTELRUN_CHECK_SETTINGS,
                              "set OTEL_SERVICE_NAME for the program",
                              "OTELCTX_PUBLISH=configured in %s, and no "
                              "attribute is configured",
                              place_of(s, OTELCTX_OPTION_PUBLISH));
    return true;
}

/* The first setting that is wrong. */
static bool is_wrong(const struct settings *s, struct otelrun_checks *checks)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const struct otelctx_span value = s->source[id].text;
        struct otelctx_fault fault = {1, NULL};

        if (!value.at)
            continue;
        if (otelctx_check_value(id, value, &fault) == 0)
            fault.why = id == OTELCTX_OPTION_ATTRIBUTE_KEYS
                            ? otelctx_check_keys(&s->options)
                            : NULL;
        if (!fault.why)
            continue;
        (void)otelrun_checks_fail(
            checks, OTELRUN_CHECK_SETTINGS, "correct that variable",
            "%s in %s: byte %zu: expected %s", otelctx_option_name(id),
            place_of(s, id), fault.pos, fault.why);
        return true;
    }
    return false;
}

/* What counts but is hardly meant. */
static void pass(const struct settings *s, struct otelrun_checks *checks)
{
    const char *const on = s->options.service_name.at
                               ? "the library is on, with a service name"
                               : "the library is on";
    struct otelctx_fault fault;

    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        if (!s->source[id].text.at ||
            !otelctx_check_doubt(id, s->source[id].text, &fault))
            continue;
        otelrun_checks_pass(
            checks, OTELRUN_CHECK_SETTINGS, "%s; %s in %s: byte %zu: %s", on,
            otelctx_option_name(id), place_of(s, id), fault.pos, fault.why);
        return;
    }
    otelrun_checks_pass(checks, OTELRUN_CHECK_SETTINGS, "%s%s", on,
                        s->source[OTELCTX_SETTING_DECLARATIVE].text.at
                            ? "; " OTELCTX_DECLARATIVE_DOUBT
                            : "");
}

bool otelrun_settings_check(int root, char *const *envp, const char *executable,
                            struct otelrun_checks *checks)
{
    struct settings s = {.file = malloc(OTELCTX_FILE_MAX + 1)};
    bool passed;

    read_sources(&s, root, envp);
    passed = !is_off(&s, executable, checks) && !is_silent(&s, checks) &&
             !is_wrong(&s, checks);
    if (passed)
        pass(&s, checks);
    free(s.file);
    return passed;
}

bool otelrun_settings_publish_configured(void)
{
    struct settings s = {.file = malloc(OTELCTX_FILE_MAX + 1)};

    read_sources(&s, AT_FDCWD, NULL);
    free(s.file);
    return s.options.publish == OTELCTX_PUBLISH_CONFIGURED;
}
