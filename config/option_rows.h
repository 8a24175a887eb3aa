/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The options, one row each, and all that is said of an option:
 *
 *   UNSIGNED(id, name, field, kind, expects, default, where, help)
 *   SPAN(id, name, field, kind, default, where, help)
 *
 * id       OTELCTX_OPTION_id
 * field    in struct otelctx_options: an unsigned or a struct otelctx_span
 * kind     OTELCTX_KIND_kind, of which a span has those from UTF8 on
 * expects  words "a|b|c", of which the value is the number of one; a list of
 *          words "a,b,off", of which the value has a bit each, and none for the
 *          last word, which stands alone; a range "1..9" of decimal numbers
 * default  the value; "" is unset
 * where    ANYWHERE, or ENVIRONMENT for one that no file may have
 * help     sentences for the man page
 */
#define OTELCTX_OPTIONS(UNSIGNED, SPAN)                                        \
    UNSIGNED(                                                                  \
        LOG_LEVEL, "OTELCTX_LOG_LEVEL", log_level, WORD,                       \
        "none|error|warn|info|debug", OTELCTX_LOG_ERROR, ANYWHERE,             \
        "What the shim prints to stderr: `error` means that a setting is "     \
        "wrong, `warn` that this process cannot publish or that a setting "    \
        "is doubtful, and `debug` tells what was decided, and why.")           \
    UNSIGNED(SDK_DISABLED, "OTEL_SDK_DISABLED", sdk_disabled, WORD,            \
             "false|true", false, ANYWHERE,                                    \
             "`true` disables the shim and every OpenTelemetry SDK in the "    \
             "process.")                                                       \
    UNSIGNED(DISABLED, "OTELCTX_DISABLED", disabled, WORD, "false|true",       \
             false, ANYWHERE, "`true` disables the shim only.")                \
    SPAN(CONFIG_FILE, "OTELCTX_CONFIG_FILE", config_file, BYTES,               \
         "/etc/otelctx/otelctx.conf", ENVIRONMENT,                             \
         "Path of the configuration file.")                                    \
    SPAN(INCLUDE_PATHS, "OTELCTX_INCLUDE_PATHS", include_paths, GLOBS, "",     \
         ANYWHERE,                                                             \
         "Globs for the path of the executable, separated by commas: "         \
         "`/srv/*,*/python3*`. The shim does nothing in executables that "     \
         "match none of them.")                                                \
    SPAN(EXCLUDE_PATHS, "OTELCTX_EXCLUDE_PATHS", exclude_paths, GLOBS, "",     \
         ANYWHERE,                                                             \
         "Globs for the path of the executable, separated by commas. The "     \
         "shim does nothing in executables that match one of them.")           \
    UNSIGNED(PUBLISH, "OTELCTX_PUBLISH", publish, WORD, "always|configured",   \
             OTELCTX_PUBLISH_ALWAYS, ANYWHERE,                                 \
             "`always` publishes at start. `configured` publishes at start "   \
             "only when at least one attribute is configured, for machines "   \
             "that preload into every program.")                               \
    SPAN(SERVICE_NAME, "OTEL_SERVICE_NAME", service_name, UTF8, "", ANYWHERE,  \
         "The `service.name`, taken literally. Overrides the one in the "      \
         "attributes. Without either, the name is `unknown_service:` and the " \
         "base name of the file that was executed, also of a script.")         \
    SPAN(RESOURCE_ATTRIBUTES, "OTEL_RESOURCE_ATTRIBUTES", resource_attributes, \
         ATTRIBUTES, "", ANYWHERE,                                             \
         "Resource attributes: `key=value,key=value`, percent-encoded where "  \
         "needed (a comma is `%2C`).")                                         \
    SPAN(EXTRA_ATTRIBUTES, "OTELCTX_EXTRA_ATTRIBUTES", extra_attributes,       \
         ATTRIBUTES, "", ANYWHERE,                                             \
         "Attributes beside the resource (field `extra_attributes` of the "    \
         "payload), in the same format.")                                      \
    SPAN(ENTITIES, "OTEL_ENTITIES", entities, ENTITIES, "", ANYWHERE,          \
         "What the process belongs to: "                                       \
         "`type{id=value}[description=value]@schema_url`, with `;` between "   \
         "entities.")                                                          \
    UNSIGNED(REQUEST_ATTRIBUTES, "OTELCTX_REQUEST_ATTRIBUTES",                 \
             request_attributes, LIST,                                         \
             "http.request.method,url.path,http.route,db.operation.name,off",  \
             0, ENVIRONMENT,                                                   \
             "What libotelctx_requests(7) shows of a request besides its "     \
             "trace, separated by commas. With one of them, requests without " \
             "a trace are shown, too.")                                        \
    SPAN(ATTRIBUTE_KEYS, "OTELCTX_ATTRIBUTE_KEYS", attribute_keys, KEYS, "",   \
         ANYWHERE,                                                             \
         "Keys of thread attributes to publish at start, in the order of "     \
         "their indexes: `http.route,user.id`. A program can add more at run " \
         "time.")                                                              \
    SPAN(SCHEMA_VERSION, "OTELCTX_SCHEMA_VERSION", schema_version, SCHEMA,     \
         "tlsdesc_v1_dev", ANYWHERE,                                           \
         "How readers find thread contexts: the value of "                     \
         "`threadlocal.schema_version`. Today's readers accept "               \
         "`tlsdesc_v1_dev` only.")                                             \
    UNSIGNED(                                                                  \
        THREAD_STORAGE, "OTELCTX_THREAD_STORAGE", thread_storage, LIST,        \
        "tls,ring,profiler,off", OTELCTX_STORAGE_TLS, ANYWHERE,                \
        "Where threads store their contexts, one or several, separated by "    \
        "commas: `tls` is OTEP 4947, `ring` a buffer that readers find by "    \
        "thread id, `profiler` a variable for a profiler in the process.")     \
    UNSIGNED(RING_CAPACITY, "OTELCTX_RING_CAPACITY", ring_capacity, NUMBER,    \
             "1..4194304", 65536, ANYWHERE,                                    \
             "How many slots of 32 bytes the `ring` has.")                     \
    UNSIGNED(TRACEPARENT_FOR, "OTELCTX_TRACEPARENT", traceparent_for, WORD,    \
             "off|main|all", OTELCTX_TRACEPARENT_OFF, ANYWHERE,                \
             "Which threads start with the context in `TRACEPARENT`. Leave "   \
             "this `off` in a program with an OpenTelemetry SDK.")             \
    SPAN(TRACEPARENT, "TRACEPARENT", traceparent, TRACEPARENT, "",             \
         ENVIRONMENT,                                                          \
         "The trace and span that started this program, as in W3C Trace "      \
         "Context.")                                                           \
    UNSIGNED(                                                                  \
        FORK, "OTELCTX_FORK", fork, WORD, "republish|drop",                    \
        OTELCTX_FORK_REPUBLISH, ANYWHERE,                                      \
        "What a forked child does before `fork()` returns in it: "             \
        "`republish` its parent's attributes in a context of its own, or "     \
        "`drop` the context.")                                                 \
    UNSIGNED(                                                                  \
        CHILDREN, "OTELCTX_CHILDREN", children, WORD, "preload|leave",         \
        OTELCTX_CHILDREN_PRELOAD, ANYWHERE,                                    \
        "What programs that this process executes inherit: `leave` takes "     \
        "the shim off the `LD_PRELOAD` that they get, so that they have "      \
        "no context.")                                                         \
    UNSIGNED(INSTANCE_ID, "OTELCTX_INSTANCE_ID", instance_id, WORD,            \
             "off|generate|export", OTELCTX_INSTANCE_ID_OFF, ANYWHERE,         \
             "`generate` gives each process without a configured "             \
             "`service.instance.id` a random one. `export` also shows it to "  \
             "the SDKs in the process.")                                       \
    SPAN(EXPORTED_ID, "OTELCTX_EXPORTED_ID", exported_id, BYTES, "",           \
         ENVIRONMENT,                                                          \
         "The id that `OTELCTX_INSTANCE_ID=export` added to "                  \
         "`OTEL_RESOURCE_ATTRIBUTES`. The shim sets this variable.")           \
    UNSIGNED(                                                                  \
        ON_OTHER_PUBLISHER, "OTELCTX_ON_OTHER_PUBLISHER", on_other_publisher,  \
        WORD, "yield|keep", OTELCTX_ON_OTHER_YIELD, ANYWHERE,                  \
        "What the shim does when an SDK in the process publishes a context "   \
        "too: `yield` to the SDK, or `keep` publishing a second one.")
