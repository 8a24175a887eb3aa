/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-read: shows the OpenTelemetry contexts of other processes. */

#include "demo/reader/once.h"
#include "demo/reader/options.h"
#include "demo/reader/print.h"
#include "demo/reader/watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What is closed must not become a file of /proc: nothing can be written to a
 * descriptor that is open for reading only, and that will be said.
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
        return OTELREAD_DEPTH_PROCESS;
    return options->no_stop ? OTELREAD_DEPTH_RUNNING : OTELREAD_DEPTH_STOPPED;
}

static int run(const struct otelread_options *options)
{
    struct otelread_output output = output_of(options);

    if (options->help)
        return fputs(otelread_usage, stdout) < 0;
    if (options->version)
        return puts("otelctx-read " OTELCTX_VERSION) < 0;
    if (options->watch && options->all)
        return otelread_watch_all(&output);
    if (options->watch)
        return otelread_watch(&output, options->pids, options->count);
    if (options->all)
        return otelread_once_all(&output, depth_of(options));
    return otelread_once(&output, options->pids, options->count,
                         depth_of(options));
}

/* Whatever standard output still holds back has to go somewhere. */
static int finish(int status)
{
    if (fclose(stdout) == 0 || status == OTELREAD_ERROR)
        return status;
    perror("otelctx-read: cannot write");
    return OTELREAD_ERROR;
}

int main(int argc, char **argv)
{
    struct otelread_options options;

    fill_standard_descriptors();
    int status = otelread_options_parse(&options, argc, argv);
    if (status == 0)
        status = run(&options);
    free(options.pids);
    return finish(status);
}
