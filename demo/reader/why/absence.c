/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/why/process.h"

#include "demo/base/root.h"
#include "demo/run/doctor/usual.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The library's entry in such a list. Returns false if it has none. */
static bool find_entry(const char *list, const char *separators, char *out,
                       size_t out_size)
{
    struct otelctx_span rest = otelctx_span_from(list ? list : ""), entry;

    while ((entry = otelrun_preload_next(&rest, separators)).size > 0) {
        if (entry.size >= out_size || !otelrun_preload_is_ours(entry))
            continue;
        memcpy(out, entry.at, entry.size);
        out[entry.size] = '\0';
        return true;
    }
    return false;
}

/* Who names the library: LD_PRELOAD, or the file for the whole machine. */
static bool check_preload(const struct otelread_process *p, char *entry,
                          size_t size)
{
    const char *const preload =
        p->is_secure ? NULL : otelread_process_variable(p, "LD_PRELOAD");
    char file[4096] = "";

    if (find_entry(preload, OTELRUN_LD_PRELOAD, entry, size)) {
        otelrun_checks_pass(p->checks, OTELRUN_CHECK_PRELOAD, "LD_PRELOAD=%s",
                            preload);
        return true;
    }
    if (p->root >= 0)
        (void)otelbase_root_read(p->root, "/etc/ld.so.preload", file,
                                 sizeof(file) - 1);
    if (find_entry(file, OTELRUN_ETC_PRELOAD, entry, size)) {
        otelrun_checks_pass(p->checks, OTELRUN_CHECK_PRELOAD,
                            "/etc/ld.so.preload has %s", entry);
        return true;
    }
    if (p->is_secure)
        return otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_PRIVILEGES,
            "name the library in /etc/ld.so.preload, and the settings in "
            "/etc/otelctx/otelctx.conf",
            "it has more privileges than its user (setuid or file "
            "capabilities): the dynamic linker ignores LD_PRELOAD");
    return otelrun_checks_fail(
        p->checks, OTELRUN_CHECK_PRELOAD,
        "start the program with otelctx-run; sudo, ssh, env -i and service "
        "managers drop LD_PRELOAD: use it behind them",
        "LD_PRELOAD%s%s in the environment that it started with",
        preload ? " is " : " is not", preload ? preload : "");
}

/* The path of an entry without a slash. */
static bool find_by_name(const struct otelread_process *p, char *entry,
                         size_t size)
{
    char *const name = strdup(entry);
    bool found = false;

    for (const char *const *place = otelrun_usual_places;
         name && *place && !found; place++) {
        int fd;

        (void)snprintf(entry, size, "%s%s", *place, name);
        fd = otelbase_root_open(p->root, entry);
        found = fd >= 0;
        if (found)
            (void)close(fd);
    }
    if (!found)
        (void)otelrun_checks_fail(p->checks, OTELRUN_CHECK_LIBRARY,
                                  "give its full path, or run ldconfig",
                                  "%s is not where the dynamic linker looks",
                                  name ? name : "the library");
    free(name);
    return found;
}

static bool check_library(const struct otelread_process *p, char *entry,
                          size_t size)
{
    if (strchr(entry, '$') || p->root < 0)
        return true;
    if (!strchr(entry, '/') && !find_by_name(p, entry, size))
        return false;
    if (entry[0] != '/')
        return otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_LIBRARY, "give its full path",
            "%s depends on the directory in which it was started", entry);
    return otelrun_library_check(entry, p->root, p->user, &p->program,
                                 p->checks);
}

void otelread_absence_check(const struct otelread_process *p)
{
    static const enum otelrun_check_id ids[] = {
        OTELRUN_CHECK_DYNAMIC, OTELRUN_CHECK_PRIVILEGES, OTELRUN_CHECK_PRELOAD,
        OTELRUN_CHECK_LIBRARY, OTELRUN_CHECK_ARCHITECTURE};
    char entry[PATH_MAX] = "";

    otelrun_checks_ask(p->checks, ids, sizeof(ids) / sizeof(ids[0]));
    if (p->program.is_readable && p->program.elf.interpreter[0] == '\0' &&
        p->program.elf.class == ELFCLASS64) {
        (void)otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_DYNAMIC,
            "link the program dynamically; build Go with cgo",
            "%s is static: no dynamic linker loads a library", p->program.file);
        return;
    }
    otelrun_checks_pass(p->checks, OTELRUN_CHECK_DYNAMIC, "%s",
                        p->program.elf.interpreter);
    if (!p->is_secure)
        otelrun_checks_pass(p->checks, OTELRUN_CHECK_PRIVILEGES, "none gained");
    if (check_preload(p, entry, sizeof(entry)) &&
        check_library(p, entry, sizeof(entry)))
        (void)otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_MAPPED, "start the program again",
            "the dynamic linker did not load %s when the program started; now "
            "it could",
            entry);
}
