/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/option_rows.h"
#include "config/span.h"

enum otelctx_log_level {
    OTELCTX_LOG_NONE,
    OTELCTX_LOG_ERROR, /* a setting for this program is wrong */
    OTELCTX_LOG_WARN,  /* this process cannot publish, or the file that all
                          programs read is wrong */
    OTELCTX_LOG_INFO,
    OTELCTX_LOG_DEBUG, /* what the shim decided, and why */
};

enum otelctx_publish_when {
    OTELCTX_PUBLISH_ALWAYS,
    OTELCTX_PUBLISH_CONFIGURED, /* only with an attribute */
};

/* Where threads store their contexts: bits. */
enum otelctx_thread_storage {
    OTELCTX_STORAGE_TLS = 1,
    OTELCTX_STORAGE_RING = 2,
    OTELCTX_STORAGE_PROFILER = 4,
};

/* Which threads start with the context of TRACEPARENT. */
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

/* Whether the shim gives the process a service.instance.id. */
enum otelctx_instance_id_is {
    OTELCTX_INSTANCE_ID_OFF,
    OTELCTX_INSTANCE_ID_GENERATE,
    OTELCTX_INSTANCE_ID_EXPORT, /* and puts the id into the environment */
};

/* What a program that this process executes inherits. */
enum otelctx_children_get {
    OTELCTX_CHILDREN_PRELOAD,
    OTELCTX_CHILDREN_LEAVE, /* not LD_PRELOAD's entry for the shim */
};

enum otelctx_on_other_publisher {
    OTELCTX_ON_OTHER_YIELD,
    OTELCTX_ON_OTHER_KEEP,
};

/* One for each row of the table. */
#define OTELCTX_OPTION_ID(id, ...) OTELCTX_OPTION_##id,
enum otelctx_option_id {
    OTELCTX_OPTIONS(OTELCTX_OPTION_ID, OTELCTX_OPTION_ID) OTELCTX_OPTION_COUNT
};

/* The options' values: a span whose `at` is NULL is unset. */
#define OTELCTX_OPTION_UNSIGNED(id, name, field, ...) unsigned field;
#define OTELCTX_OPTION_SPAN(id, name, field, ...)     struct otelctx_span field;
struct otelctx_options {
    OTELCTX_OPTIONS(OTELCTX_OPTION_UNSIGNED, OTELCTX_OPTION_SPAN)
};

/* The text that the user wrote for one option, and its place. */
struct otelctx_setting {
    struct otelctx_span text;
    uint32_t line; /* line of the configuration file; 0: the environment */
};

enum otelctx_option_kind {
    /* With an unsigned value: */
    OTELCTX_KIND_WORD,   /* "a|b|c": one word, in any case */
    OTELCTX_KIND_LIST,   /* "a,b,off": any words, or the last one alone */
    OTELCTX_KIND_NUMBER, /* "1..9": a decimal number in this range */
    /* With a text that is valid UTF-8: */
    OTELCTX_KIND_UTF8,   /* taken literally */
    OTELCTX_KIND_KEYS,   /* separated by commas */
    OTELCTX_KIND_SCHEMA, /* a threadlocal.schema_version */
    /* With a text of any bytes: */
    OTELCTX_KIND_BYTES,
    OTELCTX_KIND_GLOBS, /* separated by commas, see glob.h */
    OTELCTX_KIND_ATTRIBUTES,
    OTELCTX_KIND_ENTITIES,
    OTELCTX_KIND_TRACEPARENT,
};

/* Columns of the table. */
const char *otelctx_option_name(enum otelctx_option_id id);
/* The expected value, written as the kind says. */
const char *otelctx_option_expects(enum otelctx_option_id id);
enum otelctx_option_kind otelctx_option_kind(enum otelctx_option_id id);
/* Return whether only the environment has this option, and no file. */
bool otelctx_option_is_of_environment(enum otelctx_option_id id);
/* Offset of the value in struct otelctx_options: a struct otelctx_span for
 * a text, else an unsigned. */
size_t otelctx_option_field(enum otelctx_option_id id);

/* The default, written as a user would; empty if unset. Sentences for the man
 * page. Neither is in the shipped library. */
struct otelctx_span otelctx_option_fallback(enum otelctx_option_id id);
const char *otelctx_option_help(enum otelctx_option_id id);

/* Return whether a string of the environment may be an option. Few are. */
bool otelctx_options_concern(const char *string);

/* Settings that are no options, see otelctx_options_read_environment(). */
enum {
    OTELCTX_SETTING_UNKNOWN = OTELCTX_OPTION_COUNT,
    OTELCTX_SETTING_DECLARATIVE,
    OTELCTX_SETTINGS_COUNT
};

#define OTELCTX_DECLARATIVE "OTEL_CONFIG_FILE"
#define OTELCTX_DECLARATIVE_DOUBT                                              \
    OTELCTX_DECLARATIVE " counts for SDKs only, which then ignore the other "  \
                        "variables: to publish an SDK's resource, add its "    \
                        "bridge with OTELCTX_RESOURCE=sdk"

/* Return the option of that name, or OTELCTX_OPTION_COUNT. */
enum otelctx_option_id otelctx_options_find(struct otelctx_span name);

/*
 * Note what the environment says. Empty means unset; of several variables of
 * one name the first counts. envp may be NULL.
 *
 * OTELCTX_SETTING_UNKNOWN is for the variables that are no options, though
 * their names begin with "OTELCTX_": the text is the first of them, with its
 * name, and the line is how many there are. OTELCTX_SETTING_DECLARATIVE is for
 * OTEL_CONFIG_FILE, unless OTELCTX_RESOURCE=sdk publishes what an SDK has.
 */
void otelctx_options_read_environment(
    struct otelctx_setting settings[OTELCTX_SETTINGS_COUNT], char *const *envp);

void otelctx_options_set_defaults(struct otelctx_options *options);

/* Parse the value of one option into options. An option whose text is unset
 * gets its default. Words count in any case. Returns 0, or -EINVAL: fault says
 * why, and the option has its default. */
int otelctx_options_apply(struct otelctx_options *options,
                          enum otelctx_option_id id, struct otelctx_span text,
                          struct otelctx_fault *fault);
