/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/sdk.h"

#include "config/span.h"
#include "demo/base/escape.h"
#include "demo/run/library.h"
#include "demo/run/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define BLANKS     " \t\n\v\f\r"
#define EXTENSIONS "-Dotel.javaagent.extensions="

/* The value of a variable; NULL when it is empty, too. */
static const char *get(const struct otelrun_environment *e, const char *name)
{
    const char *const value = otelrun_environment_get(e, name);

    return value && *value != '\0' ? value : NULL;
}

/* Does the text have the word, between its ends or these characters? */
static bool has_word(const char *text, const char *word, const char *bounds)
{
    const size_t size = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || strchr(bounds, at[-1])) && strchr(bounds, at[size]))
            return true;
    return false;
}

/* Appends a word to a variable, once. */
static void append(struct otelrun_environment *e, const char *name,
                   const char *separator, const char *word)
{
    const char *const old = get(e, name);

    if (!old || !has_word(old, word, separator))
        otelrun_environment_set(
            e, name,
            old ? otelrun_format("%s%s%s", old, separator, word) : word);
}

/* An empty entry of PYTHONPATH is the working directory, and stays. */
static struct otelrun_sdk_fault add_python(struct otelrun_environment *e,
                                           const char *path)
{
    const char *const context = get(e, "OTEL_PYTHON_CONTEXT");
    const char *const old = get(e, "PYTHONPATH");
    const size_t path_size = strlen(path);
    char *const entries =
        otelrun_allocate(path_size + (old ? strlen(old) : 0) + 2, 1);
    char *end = stpcpy(entries, path);

    if (context && strcmp(context, "otelctx") != 0)
        return (struct otelrun_sdk_fault){
            otelrun_format("OTEL_PYTHON_CONTEXT=%s stays", context),
            "unset it, or set it to otelctx"};
    for (const char *at = old; at;) {
        const size_t size = strcspn(at, ":");

        if (size != path_size || strncmp(at, path, size) != 0) {
            *end++ = ':';
            memcpy(end, at, size);
            end += size;
        }
        at = at[size] == ':' ? at + size + 1 : NULL;
    }
    *end = '\0';
    otelrun_environment_set(e, "PYTHONPATH", entries);
    otelrun_environment_set(e, "OTEL_PYTHON_CONTEXT", "otelctx");
    return (struct otelrun_sdk_fault){NULL, NULL};
}

/* Node's cli.md, "NODE_OPTIONS": double quotes hold blanks, and a backslash
 * escapes only within them. */
static const char *quote_for_node(const char *path)
{
    char *const out = otelrun_allocate(2 * strlen(path) + 3, 1);
    char *at = out;

    if (!strpbrk(path, " \"\\"))
        return path;
    for (*at++ = '"'; *path != '\0'; *at++ = *path++)
        if (*path == '"' || *path == '\\')
            *at++ = '\\';
    *at = '"';
    return out;
}

static struct otelrun_sdk_fault add_node(struct otelrun_environment *e,
                                         const char *path)
{
    const char *const word = quote_for_node(path);
    const char *const old = get(e, "NODE_OPTIONS");

    if (!old || !has_word(old, word, " ="))
        append(e, "NODE_OPTIONS", " ", otelrun_format("--require %s", word));
    return (struct otelrun_sdk_fault){NULL, NULL};
}

/* Where a word with its quoted parts ends, as the JVM divides options. */
static const char *end_of_option(const char *at)
{
    for (; *at != '\0' && !strchr(BLANKS, *at); at++)
        if (*at == '"' || *at == '\'') {
            const char *const end = strchr(at + 1, *at);

            at = end ? end : at + strlen(at) - 1;
        }
    return at;
}

/* The value of the property in an option whose text may be quoted, also in
 * part; NULL: another option. */
static const char *value_of_property(const char *option)
{
    for (const char *name = EXTENSIONS; *name != '\0'; option++) {
        if (*option == *name)
            name++;
        else if (*option != '"' && *option != '\'')
            return NULL;
    }
    return option;
}

/* Adds the file to the property, if the variable sets it: of several, the last
 * one counts. */
static void add_to_property(struct otelrun_environment *e, const char *name,
                            const char *path)
{
    const char *const text = get(e, name);
    const char *const quote = strpbrk(path, BLANKS "'") ? "\"" : "";
    const char *at = text, *value = NULL, *end = NULL;

    while (at && *(at += strspn(at, BLANKS)) != '\0') {
        const char *const found = value_of_property(at);

        at = end_of_option(at);
        if (found) {
            value = found;
            end = at;
        }
    }
    if (!value || has_word(otelrun_format("%.*s", (int)(end - value), value),
                           path, ",\"'"))
        return;
    otelrun_environment_set(e, name,
                            otelrun_format("%.*s%s%s%s%s%s", (int)(end - text),
                                           text, end > value ? "," : "", quote,
                                           path, quote, end));
}

/* The agent reads a system property before the variable of its name, and no
 * JVM prints a line because of that variable. */
static struct otelrun_sdk_fault add_java(struct otelrun_environment *e,
                                         const char *path)
{
    add_to_property(e, "JAVA_TOOL_OPTIONS", path);
    add_to_property(e, "JDK_JAVA_OPTIONS", path);
    add_to_property(e, "_JAVA_OPTIONS", path);
    append(e, "OTEL_JAVAAGENT_EXTENSIONS", ",", path);
    return (struct otelrun_sdk_fault){NULL, NULL};
}

static const struct {
    const char *name, *file;
    const char *made, *source; /* files of an installed one, and of sources */
    const char *never;         /* what the variables cannot have in a path */
    struct otelrun_sdk_fault (*add)(struct otelrun_environment *e,
                                    const char *path);
} runtimes[OTELRUN_RUNTIME_COUNT] = {
    [OTELRUN_RUNTIME_PYTHON] = {"python", "python",
                                "python/otelctx_opentelemetry",
                                "python/pyproject.toml", ":", add_python},
    [OTELRUN_RUNTIME_NODE] = {"node", "node/register.js",
                              "node/node_modules/koffi", NULL, "", add_node},
    [OTELRUN_RUNTIME_JAVA] = {"java", "java/otelctx.jar", "java/otelctx.jar",
                              NULL, ",\"", add_java},
};

static bool has_file(const char *directory, const char *file)
{
    return file && access(otelrun_format("%s/%s", directory, file), R_OK) == 0;
}

const char *otelrun_sdk_name(enum otelrun_runtime runtime)
{
    return runtimes[runtime].name;
}

const char *otelrun_sdk_parse(const char *names, unsigned *bits)
{
    struct otelctx_span rest = otelctx_span_from(names), word;
    char shown[64];

    if (strspn(names, " \t,") == rest.size)
        return "python, node, java or all";
    while ((word = otelctx_span_member(&rest)).size > 0) {
        unsigned i = 0;

        while (i < OTELRUN_RUNTIME_COUNT &&
               !otelctx_span_equal(word, otelctx_span_from(runtimes[i].name)))
            i++;
        if (i < OTELRUN_RUNTIME_COUNT) {
            *bits |= 1U << i;
        } else if (otelctx_span_equal(word, OTELCTX_SPAN("all"))) {
            *bits |= (1U << OTELRUN_RUNTIME_COUNT) - 1;
        } else {
            otelbase_escape_copy(shown, sizeof(shown), word.at, word.size);
            return otelrun_format("python, node, java or all, not %s", shown);
        }
    }
    return NULL;
}

const char *otelrun_sdk_directory(const char *given)
{
    const char *const own = otelrun_library_own_directory();
    const char *const prefix = own ? own : "";
    const char *shared;

    if (given)
        return given;
    given = otelrun_format("%ssdk", prefix);
    shared = otelrun_format("%s../share/otelctx/sdk", prefix);
    return access(given, F_OK) != 0 && access(shared, F_OK) == 0 ? shared
                                                                 : given;
}

struct otelrun_sdk_fault otelrun_sdk_apply(struct otelrun_environment *e,
                                           enum otelrun_runtime runtime,
                                           const char *directory)
{
    static const char make[] =
        "demo/sdk/install makes it; --sdk-path names its directory";
    const char *const path =
        otelrun_format("%s/%s", directory, runtimes[runtime].file);
    const char *found = NULL, *advice = make;

    if (access(path, R_OK) != 0) {
        found = strerror(errno);
    } else if (!has_file(directory, runtimes[runtime].made) ||
               has_file(directory, runtimes[runtime].source)) {
        found = "not installed";
    } else if (strpbrk(path, runtimes[runtime].never)) {
        found = "no variable can have this path";
        advice = "use another directory";
    }
    if (found)
        return (struct otelrun_sdk_fault){otelrun_format("%s: %s", path, found),
                                          advice};
    return runtimes[runtime].add(e, path);
}
