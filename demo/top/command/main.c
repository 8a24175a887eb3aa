/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-top: what the machine works for, by service, route and trace. */

#include "demo/reader/command/targets.h"
#include "demo/reader/os/helper.h"
#include "demo/top/command/options.h"
#include "demo/top/command/run.h"

#include <stdio.h>
#include <stdlib.h>

static int run(const struct oteltop_options *options)
{
    struct otelread_targets targets = {.count = 0};

    if (options->help) {
        oteltop_options_print();
        return 0;
    }
    if (options->version)
        return puts("otelctx-top " OTELCTX_VERSION) < 0;
    if (options->count == 0)
        return oteltop_run(options, NULL, 0);

    int status =
        otelread_targets_find(&targets, options->words, options->count);
    if (targets.count > 0)
        status = oteltop_run(options, targets.pids, targets.count);
    free(targets.pids);
    return status;
}

int main(int argc, char **argv)
{
    struct oteltop_options options;
    int status = oteltop_options_parse(&options, argc, argv);

    if (status == 0)
        status = run(&options);
    oteltop_dimensions_free(&options.by);
    otelread_helper_end();
    if (fclose(stdout) != 0 && status == 0) {
        perror("otelctx-top: cannot write");
        status = 1;
    }
    return status;
}
