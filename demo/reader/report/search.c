/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/search.h"

#include "demo/base/hash.h"
#include "demo/reader/os/clock.h"
#include "demo/reader/os/helper.h"
#include "demo/reader/os/maps.h"
#include "demo/reader/os/target.h"
#include "shim/wire/profiler.h"
#include "shim/wire/thread.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

static bool is_code(const struct otelread_maps_line *line)
{
    return line->permissions[2] == 'x' && line->name_size > 0 &&
           line->name[0] == '/';
}

/*
 * Which files a process runs code from, and where: a number that changes when
 * it loads a library or unloads one. Returns 0 or -errno.
 */
static int code_digest(const struct otelread_target *target, uint64_t *digest)
{
    int fd = otelread_target_maps(target);
    struct otelread_maps maps = {.read = otelread_maps_read_fd, .source = &fd};
    struct otelread_maps_line line;
    int result;

    if (fd < 0)
        return fd;
    *digest = OTELBASE_HASH;
    while ((result = otelread_maps_next_line(&maps, &line)) > 0) {
        if (!is_code(&line))
            continue;
        *digest = otelbase_hash_number(*digest, line.start);
        *digest = otelbase_hash_add(*digest, line.name, line.name_size);
    }
    (void)close(fd);
    return result;
}

/* A library is mapped before the dynamic linker lists and relocates it. */
#define SETTLE_NS 1000000000U

enum {
    TLS,
    PROFILER,
    VARIABLES
};

static int helper_search(struct otelread_target *target, const void *request,
                         void *out)
{
    struct otelread_variable *const variables = out;

    (void)request;
    variables[TLS].name = OTELCTX_THREAD_SYMBOL;
    variables[TLS].size = sizeof(uint64_t);
    variables[PROFILER].name = OTELCTX_PROFILER_SYMBOL;
    variables[PROFILER].size = sizeof(struct otelctx_profiler_context);
    otelread_variables_find(target, variables, VARIABLES);
    return 0;
}

/* Another search of the same files could find what this one did not. */
static bool is_for_now(int error)
{
    return error != 0 && error != -ENOENT && error != -ENOTSUP &&
           error != -E2BIG;
}

/* Whether the last search still holds. */
static bool is_settled(struct otelread_search *search,
                       const struct otelread_target *target)
{
    uint64_t loaded;

    if (code_digest(target, &loaded) != 0)
        return false;
    if (loaded == search->loaded)
        return search->settled;
    search->loaded = loaded;
    search->since_ns = otelread_monotonic_ns();
    return false;
}

/*
 * The helper searches: libraries are large, may not be resident, and may lie on
 * any file system, so reading them may block.
 */
void otelread_search_run(struct otelread_search *search,
                         struct otelread_target *target)
{
    struct otelread_variable answer[VARIABLES] = {{.why = ""}};
    const uint64_t now_ns = otelread_monotonic_ns();

    if (is_settled(search, target))
        return;
    const int error = otelread_helper_ask(target, helper_search, NULL, 0,
                                          answer, sizeof(answer));
    search->tls = answer[TLS];
    search->profiler = answer[PROFILER];
    if (error != 0)
        search->tls.error = search->profiler.error = error;
    search->settled = !is_for_now(search->tls.error) &&
                      !is_for_now(search->profiler.error) &&
                      now_ns > search->since_ns + SETTLE_NS;
}
