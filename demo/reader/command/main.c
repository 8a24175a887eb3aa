/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-read: shows the OpenTelemetry contexts of other processes. */

#include "demo/base/flush.h"
#include "demo/reader/command/all.h"
#include "demo/reader/command/check_config.h"
#include "demo/reader/command/once.h"
#include "demo/reader/command/options.h"
#include "demo/reader/command/targets.h"
#include "demo/reader/command/watch.h"
#include "demo/reader/command/why.h"
#include "demo/reader/os/helper.h"
#include "demo/reader/print/json.h"
#include "demo/reader/print/raw.h"
#include "demo/reader/print/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Opens closed standard descriptors, so that no file of /proc gets their
 * numbers. They are read-only: writing to standard output then fails with a
 * message.
 */
static void fill_standard_descriptors(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        (void)close(fd);
}

static struct otelread_output output_of(const struct otelread_options *options)
{
    if (options->json)
        return (struct otelread_output){.print = otelread_json_print};
    return (struct otelread_output){.print = options->raw ? otelread_raw_print
                                                          : otelread_text_print,
                                    .apart = true};
}

static enum otelread_depth depth_of(const struct otelread_options *options)
{
    if (!options->threads)
        return options->list ? OTELREAD_DEPTH_RUNNING : OTELREAD_DEPTH_PROCESS;
    return options->no_stop ? OTELREAD_DEPTH_RUNNING : OTELREAD_DEPTH_STOPPED;
}

static int run_targets(const struct otelread_options *options,
                       struct otelread_output *output)
{
    struct otelread_targets targets;
    const int found =
        otelread_targets_find(&targets, options->words, options->count);
    int status = found;

    if (targets.count > 0 && options->why)
        status = otelread_why(targets.pids, targets.count, options->json);
    else if (targets.count > 0)
        status = options->watch
                     ? otelread_watch(output, targets.pids, targets.count,
                                      depth_of(options))
                     : otelread_once(output, targets.pids, targets.count,
                                     depth_of(options));
    free(targets.pids);
    return found != OTELREAD_OK ? found : status;
}

static int run_list(const struct otelread_options *options)
{
    struct otelread_table table = {.count = 0};
    struct otelread_output output = {.table = &table};
    const int status = options->count > 0
                           ? run_targets(options, &output)
                           : otelread_all(&output, depth_of(options));

    otelread_table_print(stdout, &table);
    otelread_table_free(&table);
    return status;
}

static int run(const struct otelread_options *options)
{
    struct otelread_output output = output_of(options);

    if (options->help)
        return otelbase_options_help(&otelread_program);
    if (options->version)
        return otelbase_options_version(&otelread_program);
    if (options->check_config)
        return otelread_check_config(options->check_config);
    if (options->list)
        return run_list(options);
    if (options->watch && options->all)
        return otelread_watch_all(&output, depth_of(options));
    if (options->all)
        return otelread_all(&output, depth_of(options));
    return run_targets(options, &output);
}

/* Writes what standard output still buffers. */
static int finish(int status)
{
    int error = otelbase_flush(stdout);

    if (fclose(stdout) != 0 && error == 0)
        error = errno;
    if (error == 0 || status == OTELREAD_ERROR)
        return status;
    (void)fprintf(stderr, "otelctx-read: cannot write: %s\n", strerror(error));
    return OTELREAD_ERROR;
}

int main(int argc, char **argv)
{
    struct otelread_options options;

    fill_standard_descriptors();
    int status = otelread_options_parse(&options, argc, argv);
    if (status == 0)
        status = run(&options);
    otelread_helper_end();
    return finish(status);
}
