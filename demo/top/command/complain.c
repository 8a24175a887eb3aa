/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/complain.h"

#include "demo/base/escape.h"
#include "demo/base/flush.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void begin(const char *what)
{
    (void)fputs("otelctx-top: ", stderr);
    otelbase_escape_print(stderr, what, strlen(what));
}

int oteltop_complain(const char *what, int error)
{
    begin(what);
    (void)fprintf(stderr, ": %s\n", strerror(error));
    return 1;
}

int oteltop_complain_place(const char *path, const char *place, const char *why)
{
    begin(path);
    (void)fprintf(stderr, ":%s: %s\n", place, why);
    return 1;
}

int oteltop_complain_input(const char *path)
{
    begin(path);
    (void)fputs(": this is the recording that is to be replayed\n", stderr);
    return 1;
}

int oteltop_close(FILE *out, const char *path)
{
    int error = otelbase_flush(out);

    if (fclose(out) != 0 && error == 0)
        error = errno;
    return error == 0 ? 0 : oteltop_complain(path, error);
}
