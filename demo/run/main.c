/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-run: executes a command with libotelctx_preload.so loaded into it. */

#include "config/options.h"
#include "demo/base/escape.h"
#include "demo/base/flush.h"
#include "demo/run/copy.h"
#include "demo/run/detect.h"
#include "demo/run/doctor/program.h"
#include "demo/run/doctor/settings.h"
#include "demo/run/environment.h"
#include "demo/run/everywhere/everywhere.h"
#include "demo/run/injector.h"
#include "demo/run/library.h"
#include "demo/run/memory.h"
#include "demo/run/options.h"
#include "demo/run/print.h"
#include "demo/run/sdk.h"
#include "demo/run/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Everything that is known of one run. */
struct run {
    struct otelrun_options options;
    struct otelrun_environment before, after;
    struct otelrun_program program;
    int find_err; /* 0, or -errno: why the command cannot be executed */
    const char *library;
    struct otelrun_checks checks;
    const char *requests; /* that library, or NULL */
    struct otelrun_checks requests_checks;
    /* The names of the bridges that are loaded, why others are not, and what to
     * do about the first of those; NULL: there are none. */
    const char *bridges, *bridge_faults, *bridge_advice;
    const char *bridge_directory;
};

/* Escaped: a name can hold anything. */
static const char *shown(const char *text)
{
    const size_t size = 4 * strlen(text) + OTELBASE_ESCAPE_MAX;
    char *const out = otelrun_allocate(size, 1);

    otelbase_escape_copy(out, size, text, strlen(text));
    return out;
}

static int complain(const char *subject, const char *why)
{
    (void)fprintf(stderr, "otelctx-run: %s: %s\n", shown(subject), why);
    return OTELRUN_FAILURE;
}

/* Returns the status, or that of an output that cannot be written. */
static int finish(int status)
{
    const int error = otelbase_flush(stdout);

    return error == 0 ? status : complain("standard output", strerror(error));
}

/* Is a message of that level wanted? Unlike the library, this program prints
 * warnings unless OTELCTX_LOG_LEVEL says otherwise. */
static bool is_loud(const struct run *run, enum otelctx_log_level at)
{
    const char *const text =
        otelrun_environment_get(&run->after, "OTELCTX_LOG_LEVEL");
    struct otelctx_options level = {.log_level = OTELCTX_LOG_WARN};
    struct otelctx_fault fault;

    if (text && *text != '\0')
        (void)otelctx_options_apply(&level, OTELCTX_OPTION_LOG_LEVEL,
                                    otelctx_span_from(text), &fault);
    return !run->options.quiet && level.log_level >= at;
}

/* The attributes that neither the user nor an option gave. */
static int add_attributes(struct run *run)
{
    struct otelctx_span unknown = {.size = 0};
    struct otelctx_fault fault;

    if (otelrun_injector_apply(&run->after, &fault) != 0 &&
        is_loud(run, OTELCTX_LOG_ERROR))
        (void)fprintf(stderr,
                      "otelctx-run: error: %s: byte %zu: expected %s; "
                      "all of the variable is discarded\n",
                      OTELRUN_INJECTOR_LIST, fault.pos, fault.why);
    if (run->options.detect)
        unknown = otelrun_detect(&run->after, run->options.detect,
                                 run->options.command[0] && run->find_err == 0
                                     ? run->program.path
                                     : NULL,
                                 run->options.command[0]);
    return unknown.size == 0
               ? 0
               : complain("--detect",
                          "expected container, host, os or process");
}

static void find_command(struct run *run)
{
    run->find_err = -ENOENT;
    if (run->options.command[0])
        run->find_err = otelrun_program_find(
            run->options.command[0],
            otelrun_environment_get(&run->after, "PATH"), &run->program);
}

/* An absolute path: the command, or its children, may change the directory. */
static const char *absolute(const char *path)
{
    char *const directory = getcwd(NULL, 0);

    if (path[0] == '/' || !directory)
        return path;
    return otelrun_format("%s/%s", directory, path);
}

static bool check_preload(struct run *run)
{
    if (!run->library)
        return otelrun_checks_fail(
            &run->checks, OTELRUN_CHECK_LIBRARY,
            "install it beside otelctx-run, or name it with --library",
            "there is no libotelctx_preload.so");
    if (strpbrk(run->library, " :\t\n"))
        return otelrun_checks_fail(
            &run->checks, OTELRUN_CHECK_LIBRARY,
            "move it to a path without them",
            "%s: LD_PRELOAD cannot name a path with a space or a colon",
            run->library);
    return otelrun_library_check(run->library, AT_FDCWD, geteuid(),
                                 &run->program, &run->checks);
}

static bool check_command(struct run *run)
{
    if (run->find_err != 0)
        return otelrun_checks_fail(
            &run->checks, OTELRUN_CHECK_COMMAND,
            run->find_err == -ENOENT ? "correct its name, or PATH"
                                     : "make it executable: chmod +x",
            "%s: %s", run->options.command[0], strerror(-run->find_err));
    otelrun_checks_pass(&run->checks, OTELRUN_CHECK_COMMAND, "%s",
                        run->program.path);
    return true;
}

/* Does the dynamic linker load the library into the command? */
static bool check_loading(struct run *run)
{
    static const enum otelrun_check_id ids[] = {
        OTELRUN_CHECK_COMMAND,    OTELRUN_CHECK_DYNAMIC,
        OTELRUN_CHECK_PRIVILEGES, OTELRUN_CHECK_SANITIZER,
        OTELRUN_CHECK_LIBRARY,    OTELRUN_CHECK_ARCHITECTURE,
    };

    otelrun_checks_ask(&run->checks, ids, sizeof(ids) / sizeof(ids[0]));
    return check_command(run) &&
           otelrun_program_read(&run->program, AT_FDCWD, &run->checks) &&
           otelrun_program_check(&run->program, &run->checks) &&
           check_preload(run);
}

static bool check_bridges(struct run *run)
{
    if (run->bridge_faults)
        return otelrun_checks_fail(&run->checks, OTELRUN_CHECK_SDK,
                                   run->bridge_advice, "%s",
                                   run->bridge_faults);
    otelrun_checks_pass(&run->checks, OTELRUN_CHECK_SDK, "%s: in %s",
                        run->bridges, run->bridge_directory);
    return true;
}

static bool check_requests(struct run *run)
{
    const struct otelrun_check *const failed =
        otelrun_checks_failed(&run->requests_checks);

    if (failed)
        return otelrun_checks_fail(&run->checks, OTELRUN_CHECK_REQUESTS,
                                   failed->advice, "%s", failed->found);
    otelrun_checks_pass(&run->checks, OTELRUN_CHECK_REQUESTS, "%s",
                        run->requests);
    return true;
}

static int check(struct run *run)
{
    static const enum otelrun_check_id settings = OTELRUN_CHECK_SETTINGS,
                                       sdk = OTELRUN_CHECK_SDK,
                                       requests = OTELRUN_CHECK_REQUESTS;
    char *const executable = realpath(run->program.file, NULL);
    bool passed = !otelrun_checks_failed(&run->checks);

    otelrun_checks_ask(&run->checks, &settings, 1);
    otelrun_checks_ask(&run->checks, &sdk, run->options.sdk != 0);
    otelrun_checks_ask(&run->checks, &requests, run->options.requests);
    if (passed)
        passed = otelrun_settings_check(
            AT_FDCWD, run->after.strings,
            executable ? executable : run->program.file, &run->checks);
    if (passed && run->options.sdk != 0)
        passed = check_bridges(run);
    if (passed && run->options.requests)
        passed = check_requests(run);
    if (run->options.json)
        otelrun_checks_print_json(stdout, run->options.command[0],
                                  &run->checks);
    else
        otelrun_checks_print(stdout, &run->checks);
    return finish(passed ? OTELRUN_OK : OTELRUN_CHECK_FAILED);
}

/* Why the command runs without the library. Returns 0, or a status. */
static int tell_failed(const struct run *run)
{
    const struct otelrun_check *const failed =
        otelrun_checks_failed(&run->checks);

    if (failed && run->options.strict)
        return complain(run->options.command[0], shown(failed->found));
    if (failed && is_loud(run, OTELCTX_LOG_WARN))
        (void)fprintf(stderr, "otelctx-run: warn: without a context: %s (%s)\n",
                      shown(failed->found), failed->advice);
    return 0;
}

static int print(const struct run *run)
{
    const int status = tell_failed(run);
    const char *why;

    if (status != 0)
        return status;
    why = otelrun_print(stdout, run->options.print, &run->before, &run->after);
    if (why)
        return complain("--print", why);
    return finish(OTELRUN_OK);
}

/* What execve(2) refused. Returns the status for it. */
static int cannot_execute(const struct run *run, int err)
{
    (void)complain(run->options.command[0], strerror(err));
    return err == ENOENT ? OTELRUN_NO_SUCH_COMMAND : OTELRUN_CANNOT_EXECUTE;
}

static int execute(const struct run *run)
{
    if (run->find_err != 0)
        return cannot_execute(run, -run->find_err);
    (void)execve(run->program.path, run->options.command, run->after.strings);
    if (errno != E2BIG)
        return cannot_execute(run, errno);
    /* What was added is too much: without it, as it would be without us. */
    if (run->options.strict)
        return complain(run->options.command[0], strerror(E2BIG));
    (void)execve(run->program.path, run->options.command, run->before.strings);
    return cannot_execute(run, errno);
}

/* Without the library, if the command would not have it or not bear it. */
static int run_command(struct run *run)
{
    const int status = run->find_err == 0 ? tell_failed(run) : 0;

    return status != 0 ? status : execute(run);
}

static const char *listed(const char *list, const char *separator,
                          const char *added)
{
    return list ? otelrun_format("%s%s%s", list, separator, added) : added;
}

/* Returns 0, or a status. */
static int leave_out_bridge(struct run *run, const char *name,
                            struct otelrun_sdk_fault fault)
{
    const char *const why = otelrun_format("%s: %s", name, fault.found);

    if (!run->bridge_advice)
        run->bridge_advice = fault.advice;
    run->bridge_faults = listed(run->bridge_faults, "; ", why);
    if (run->options.check)
        return 0;
    if (run->options.strict)
        return complain("--sdk", shown(why));
    if (is_loud(run, OTELCTX_LOG_WARN))
        (void)fprintf(stderr, "otelctx-run: warn: without a bridge: %s (%s)\n",
                      shown(why), fault.advice);
    return 0;
}

static int add_bridges(struct run *run)
{
    int status = 0;

    run->bridge_directory =
        absolute(otelrun_sdk_directory(run->options.sdk_path));
    for (unsigned i = 0; i < OTELRUN_RUNTIME_COUNT && status == 0; i++) {
        struct otelrun_sdk_fault fault;

        if ((run->options.sdk & 1U << i) == 0)
            continue;
        fault = otelrun_sdk_apply(&run->after, i, run->bridge_directory);
        if (fault.found)
            status = leave_out_bridge(run, otelrun_sdk_name(i), fault);
        else
            run->bridges = listed(run->bridges, ", ", otelrun_sdk_name(i));
    }
    return status;
}

/* Returns 0, or a status. */
static int find_requests(struct run *run)
{
    const char *const path = otelrun_library_requests(run->library);
    const struct otelrun_check *failed;

    (void)otelrun_library_check(path, AT_FDCWD, geteuid(), &run->program,
                                &run->requests_checks);
    failed = otelrun_checks_failed(&run->requests_checks);
    if (!failed)
        run->requests = path;
    else if (run->options.strict && !run->options.check)
        return complain("--requests", shown(failed->found));
    else if (!run->options.check && is_loud(run, OTELCTX_LOG_WARN))
        (void)fprintf(stderr, "otelctx-run: warn: without requests: %s (%s)\n",
                      shown(failed->found), failed->advice);
    return 0;
}

static int prepare(struct run *run)
{
    bool loads = true; /* --print goes without a command */
    int status;

    find_command(run);
    status = add_attributes(run);
    if (status != 0)
        return status;
    run->library = run->options.library ? absolute(run->options.library)
                                        : otelrun_library_find(&run->after);
    if (run->options.command[0])
        loads = check_loading(run);
    if (loads && run->library && run->options.requests)
        status = find_requests(run);
    otelrun_library_preload(&run->after, loads ? run->library : NULL,
                            run->requests);
    return loads && status == 0 ? add_bridges(run) : status;
}

static const char *find_library(const struct run *run)
{
    return run->options.library ? run->options.library
                                : otelrun_library_find(&run->after);
}

/* The options that execute no command. Returns -1 without one of them. */
static int run_alone(const struct run *run)
{
    const struct otelrun_options *const options = &run->options;
    bool is_done;

    if (options->copy_to)
        return otelrun_copy(options->copy_to, find_library(run));
    if (options->install_everywhere)
        is_done =
            otelrun_everywhere_install(find_library(run), options->command);
    else if (options->remove_everywhere)
        is_done = otelrun_everywhere_remove();
    else
        return -1;
    return finish(is_done ? OTELRUN_OK : OTELRUN_FAILURE);
}

int main(int argc, char **argv)
{
    struct run run = {.find_err = 0};
    int status;

    (void)argc;
    run.before = otelrun_environment_copy(environ);
    run.after = otelrun_environment_copy(environ);
    status = otelrun_options_parse(&run.options, &run.after,
                                   argv[0] ? argv + 1 : argv);
    if (status != 0)
        return status;
    if (run.options.help) {
        otelrun_usage_print();
        return finish(OTELRUN_OK);
    }
    if (run.options.version) {
        (void)puts("otelctx-run " OTELCTX_VERSION);
        return finish(OTELRUN_OK);
    }
    status = run_alone(&run);
    if (status >= 0)
        return status;
    if (!run.options.command[0] && !run.options.print)
        return complain("a command is missing", "--help shows how it is used");
    status = prepare(&run);
    if (status != 0)
        return status;
    if (run.options.print)
        return print(&run);
    return run.options.check ? check(&run) : run_command(&run);
}
