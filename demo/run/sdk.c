/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/sdk.h"

#include "config/span.h"
#include "demo/reader/text/escape.h"
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
static const char *add_python(struct otelrun_environment *e, const char *path)
{
    const char *const context = get(e, "OTEL_PYTHON_CONTEXT");
    const char *at = get(e, "PYTHONPATH"), *entries = path;

    if (context && strcmp(context, "otelctx") != 0)
        return otelrun_format("python: OTEL_PYTHON_CONTEXT=%s stays", context);
    while (at) {
        const size_t size = strcspn(at, ":");

        if (size != strlen(path) || strncmp(at, path, size) != 0)
            entries = otelrun_format("%s:%.*s", entries, (int)size, at);
        at = at[size] == ':' ? at + size + 1 : NULL;
    }
    otelrun_environment_set(e, "PYTHONPATH", entries);
    otelrun_environment_set(e, "OTEL_PYTHON_CONTEXT", "otelctx");
    return NULL;
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

static const char *add_node(struct otelrun_environment *e, const char *path)
{
    const char *const word = quote_for_node(path);
    const char *const old = get(e, "NODE_OPTIONS");

    if (!old || !has_word(old, word, " ="))
        append(e, "NODE_OPTIONS", " ", otelrun_format("--require %s", word));
    return NULL;
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

/* Adds the file to the property, if the variable sets it: of several, the last
 * one counts. */
static void add_to_property(struct otelrun_environment *e, const char *name,
                            const char *path)
{
    const char *const text = get(e, name);
    const char *const quote = strpbrk(path, BLANKS "'") ? "\"" : "";
    const char *at = text, *value = NULL, *end = NULL;

    while (at && *(at += strspn(at, BLANKS)) != '\0') {
        const char *const option = at + strspn(at, "\"'");

        at = end_of_option(at);
        if (strncmp(option, EXTENSIONS, strlen(EXTENSIONS)) == 0) {
            value = option + strlen(EXTENSIONS);
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
static const char *add_java(struct otelrun_environment *e, const char *path)
{
    add_to_property(e, "JAVA_TOOL_OPTIONS", path);
    add_to_property(e, "JDK_JAVA_OPTIONS", path);
    add_to_property(e, "_JAVA_OPTIONS", path);
    append(e, "OTEL_JAVAAGENT_EXTENSIONS", ",", path);
    return NULL;
}

static const struct {
    const char *name, *file;
    const char *never; /* what the variables cannot have in a path */
    const char *(*add)(struct otelrun_environment *e, const char *path);
} runtimes[OTELRUN_RUNTIME_COUNT] = {
    [OTELRUN_RUNTIME_PYTHON] = {"python", "python", ":", add_python},
    [OTELRUN_RUNTIME_NODE] = {"node", "node/register.js", "", add_node},
    [OTELRUN_RUNTIME_JAVA] = {"java", "java/otelctx.jar", ",\"", add_java},
};

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
            otelread_escape_copy(shown, sizeof(shown), word.at, word.size);
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

const char *otelrun_sdk_apply(struct otelrun_environment *e,
                              enum otelrun_runtime runtime,
                              const char *directory)
{
    const char *const name = runtimes[runtime].name;
    const char *const path =
        otelrun_format("%s/%s", directory, runtimes[runtime].file);

    if (access(path, R_OK) != 0)
        return otelrun_format("%s: %s: %s", name, path, strerror(errno));
    if (strpbrk(path, runtimes[runtime].never))
        return otelrun_format("%s: %s: no variable can have this path", name,
                              path);
    return runtimes[runtime].add(e, path);
}
