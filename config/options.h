/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_OPTIONS_H
#define OTELCTX_OPTIONS_H

#include <stdint.h>

#include "config/span.h"

enum otelctx_log_level {
    OTELCTX_LOG_NONE,
    OTELCTX_LOG_ERROR, /* what the user wrote is wrong */
    OTELCTX_LOG_WARN,  /* this process cannot publish, and why */
    OTELCTX_LOG_INFO,
    OTELCTX_LOG_DEBUG,
};

enum otelctx_publish_when {
    OTELCTX_PUBLISH_ALWAYS,
    OTELCTX_PUBLISH_CONFIGURED, /* only with at least one attribute */
};

/* Which threads start with the context that TRACEPARENT names. */
enum otelctx_traceparent_for {
    OTELCTX_TRACEPARENT_OFF,
    OTELCTX_TRACEPARENT_MAIN,
    OTELCTX_TRACEPARENT_ALL,
};

/* What a forked child does. */
enum otelctx_fork_does {
    OTELCTX_FORK_REPUBLISH,
    OTELCTX_FORK_DROP,
};

/* Whether the process gets a service.instance.id of ours. */
enum otelctx_instance_id_is {
    OTELCTX_INSTANCE_ID_OFF,
    OTELCTX_INSTANCE_ID_GENERATE,
    OTELCTX_INSTANCE_ID_EXPORT, /* and its environment tells */
};

enum otelctx_on_other_publisher {
    OTELCTX_ON_OTHER_YIELD,
    OTELCTX_ON_OTHER_KEEP,
};

/* One row of the table in options.c each, in the order of that table. */
enum otelctx_option_id {
    OTELCTX_OPTION_LOG_LEVEL,
    OTELCTX_OPTION_SDK_DISABLED,
    OTELCTX_OPTION_DISABLED,
    OTELCTX_OPTION_CONFIG_FILE,
    OTELCTX_OPTION_INCLUDE_PATHS,
    OTELCTX_OPTION_EXCLUDE_PATHS,
    OTELCTX_OPTION_PUBLISH,
    OTELCTX_OPTION_SERVICE_NAME,
    OTELCTX_OPTION_RESOURCE_ATTRIBUTES,
    OTELCTX_OPTION_EXTRA_ATTRIBUTES,
    OTELCTX_OPTION_ATTRIBUTE_KEYS,
    OTELCTX_OPTION_SCHEMA_VERSION,
    OTELCTX_OPTION_TRACEPARENT_FOR,
    OTELCTX_OPTION_TRACEPARENT,
    OTELCTX_OPTION_FORK,
    OTELCTX_OPTION_INSTANCE_ID,
    OTELCTX_OPTION_EXPORTED_ID,
    OTELCTX_OPTION_ON_OTHER_PUBLISHER,
    OTELCTX_OPTION_COUNT,
};

/* The options' values; a span whose `at` is NULL is unset. */
struct otelctx_options {
    unsigned log_level; /* enum otelctx_log_level */
    unsigned sdk_disabled, disabled;
    unsigned publish; /* enum otelctx_publish_when */
    struct otelctx_span config_file;
    struct otelctx_span include_paths, exclude_paths;
    struct otelctx_span service_name;
    struct otelctx_span resource_attributes, extra_attributes;
    struct otelctx_span attribute_keys;
    struct otelctx_span schema_version;
    unsigned traceparent_for; /* enum otelctx_traceparent_for */
    struct otelctx_span traceparent;
    unsigned fork;        /* enum otelctx_fork_does */
    unsigned instance_id; /* enum otelctx_instance_id_is */
    struct otelctx_span exported_id;
    unsigned on_other_publisher; /* enum otelctx_on_other_publisher */
};

/* What the user wrote for one option, and where. */
struct otelctx_setting {
    struct otelctx_span text;
    uint32_t line; /* of the configuration file; 0: the environment */
};

/* The shipped library helps nobody, and has to stay small. */
#if defined(OTELCTX_NO_HELP)
#define OTELCTX_HELP_SIZE  1
#define OTELCTX_HELP(text) ""
#else
#define OTELCTX_HELP_SIZE  188
#define OTELCTX_HELP(text) text
#endif

/* A row of the table; texts are arrays so that none needs a relocation. */
struct otelctx_option {
    char name[27];
    char fallback[26]; /* the default, written as a user would; "" = unset */
    char expects[36];  /* "expected a|b|c" for an option that is a word */
    char help[OTELCTX_HELP_SIZE]; /* one line, for README.md and --help */
    uint8_t kind;
    uint8_t field; /* offset in struct otelctx_options */
};

extern const struct otelctx_option otelctx_options_table[OTELCTX_OPTION_COUNT];

/* May a string of the environment be one of the options? Nearly none is. */
bool otelctx_options_concern(const char *string);

/* The option of that name, or OTELCTX_OPTION_COUNT. */
enum otelctx_option_id otelctx_options_find(struct otelctx_span name);

/*
 * Note what the environment says. Empty means unset; of several variables of
 * one name the first counts. envp may be NULL.
 */
void otelctx_options_read_environment(
    struct otelctx_setting settings[OTELCTX_OPTION_COUNT], char *const *envp);

void otelctx_options_set_defaults(struct otelctx_options *options);

/*
 * Give one option its value. Words count in any case.
 *
 * Returns 0 or -EINVAL: fault says why, and the option keeps its default
 * (false, for a switch).
 */
int otelctx_options_apply(struct otelctx_options *options,
                          enum otelctx_option_id id, struct otelctx_span text,
                          struct otelctx_fault *fault);

#endif
