/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/library.h"

#include "config/span.h"
#include "demo/run/doctor/usual.h"
#include "demo/run/memory.h"

#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>

/* From the directory of this program. */
static const char *const beside[] = {
    "", "../lib/", ("../lib/" OTELRUN_TRIPLET "/"), "../lib64/", NULL,
};

/* The same in a build directory, and only there: elsewhere, the directory above
 * may be another user's. */
static const char build[] = "/demo/run/";
static const char *const built[] = {"../../shim/", NULL};

static struct otelctx_span preloads(const struct otelrun_environment *e)
{
    const char *const text = otelrun_environment_get(e, "LD_PRELOAD");

    return otelctx_span_from(text ? text : "");
}

const char *otelrun_library_own_directory(void)
{
    char *const path = otelrun_allocate(PATH_MAX + 1, 1);
    const ssize_t size = readlink("/proc/self/exe", path, PATH_MAX);
    char *slash;

    if (size <= 0) {
        const char *const called = (const char *)getauxval(AT_EXECFN);

        if (!called || strlen(called) >= PATH_MAX)
            return NULL;
        memcpy(path, called, strlen(called) + 1);
    }
    slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    slash[1] = '\0';
    return path;
}

static bool is_built(const char *directory)
{
    const size_t size = strlen(directory), end = sizeof(build) - 1;

    return size >= end && strcmp(directory + size - end, build) == 0;
}

/* The path of a library in one of those directories, or NULL. */
static const char *find_in(const char *prefix, const char *const *directory)
{
    for (; *directory; directory++) {
        const char *const path =
            otelrun_format("%s%s" OTELRUN_LIBRARY, prefix, *directory);

        if (access(path, F_OK) == 0)
            return path;
    }
    return NULL;
}

static const char *find_in_search_path(const struct otelrun_environment *e)
{
    const char *const text = otelrun_environment_get(e, "LD_LIBRARY_PATH");
    struct otelctx_span rest = otelctx_span_from(text ? text : "");

    while (rest.size > 0) {
        const struct otelctx_span directory = otelctx_span_cut(&rest, ':');
        const char *const path = otelrun_format(
            "%.*s/" OTELRUN_LIBRARY, (int)directory.size, directory.at);

        if (directory.size > 0 && directory.at[0] == '/' &&
            access(path, F_OK) == 0)
            return path;
    }
    return NULL;
}

const char *otelrun_library_find(const struct otelrun_environment *e)
{
    struct otelctx_span rest = preloads(e), entry;
    const char *const directory = otelrun_library_own_directory();
    const char *path = NULL;

    while ((entry = otelrun_preload_next(&rest, OTELRUN_LD_PRELOAD)).size > 0)
        if (otelrun_preload_is_ours(entry) && entry.at[0] == '/')
            return otelrun_format("%.*s", (int)entry.size, entry.at);
    if (directory)
        path = find_in(directory, beside);
    if (!path && directory && is_built(directory))
        path = find_in(directory, built);
    if (!path)
        path = find_in_search_path(e);
    if (!path)
        path = find_in("", otelrun_usual_places);
    return path;
}

const char *otelrun_library_requests(const char *library)
{
    const char *const slash = strrchr(library, '/');
    const int size = slash ? (int)(slash + 1 - library) : 0;
    const char *const path =
        otelrun_format("%.*s" OTELRUN_REQUESTS, size, library);
    const char *const built_path =
        otelrun_format("%.*srequests/" OTELRUN_REQUESTS, size, library);
    const char *const directory = otelrun_library_own_directory();

    return directory && is_built(directory) && access(built_path, F_OK) == 0
               ? built_path
               : path;
}

static bool is_replaced(struct otelctx_span entry, const char *library,
                        const char *requests)
{
    return otelrun_preload_is_ours(entry) ||
           otelctx_span_equal(entry,
                              otelctx_span_from(library ? library : "")) ||
           (requests && otelrun_preload_is(entry, OTELRUN_REQUESTS));
}

void otelrun_library_preload(struct otelrun_environment *e, const char *library,
                             const char *requests)
{
    struct otelctx_span rest = preloads(e), entry;
    char *text = otelrun_format("%s%s%s", library ? library : "",
                                requests ? ":" : "", requests ? requests : "");
    bool changes = library;

    while ((entry = otelrun_preload_next(&rest, OTELRUN_LD_PRELOAD)).size > 0)
        if (is_replaced(entry, library, requests))
            changes = true;
        else
            text = otelrun_format("%s%s%.*s", text, *text != '\0' ? ":" : "",
                                  (int)entry.size, entry.at);
    if (changes && *text != '\0')
        otelrun_environment_set(e, "LD_PRELOAD", text);
    else if (changes)
        otelrun_environment_unset(e, "LD_PRELOAD");
}
