/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/recording/read.h"

#include "demo/base/grow.h"

#include <errno.h>
#include <stdlib.h>

enum {
    LINE_MAX_SIZE = 16 << 20 /* more than any payload can have */
};

static int refuse(struct oteltop_recording *recording, size_t byte,
                  const char *why)
{
    recording->fault.byte = byte;
    recording->fault.why = why;
    return -EINVAL;
}

/* Reads bytes up to a newline or the end. Returns 1, or a negative errno. */
static int take_line(struct oteltop_recording *recording, bool *newline)
{
    int one;

    recording->size = 0;
    recording->fault.line++;
    recording->bytes = otelbase_grow(recording->bytes, 0, &recording->room, 1);
    flockfile(recording->in);
    while ((one = getc_unlocked(recording->in)) != EOF && one != '\n' &&
           recording->size < LINE_MAX_SIZE) {
        recording->bytes = otelbase_grow(recording->bytes, recording->size,
                                         &recording->room, 1);
        recording->bytes[recording->size++] = (char)one;
    }
    funlockfile(recording->in);
    *newline = one == '\n';
    if (one == EOF && ferror(recording->in))
        return errno > 0 ? -errno : -EIO;
    if (one != EOF && one != '\n')
        return refuse(recording, 0, "the line is longer than 16 MiB");
    return 1;
}

/* Checks the order of the lines. Returns 1 or -EINVAL. */
static int check_order(struct oteltop_recording *recording)
{
    const struct oteltop_line *const line = &recording->line;
    const bool begins = line->kind == OTELTOP_RECORDING;

    if (begins != (recording->fault.line == 1))
        return refuse(recording, 0,
                      begins ? "a second recording begins"
                             : "this is not a recording of otelctx-top");
    if (begins && line->number != 1)
        return refuse(recording, 0,
                      "the recording has a format of a later version");
    if (recording->complete)
        return refuse(recording, 0, "something follows the end");
    recording->complete = line->kind == OTELTOP_END;
    return 1;
}

int oteltop_recording_next(struct oteltop_recording *recording)
{
    struct otelbase_scan json = {.first = false};
    bool newline;
    const int taken = take_line(recording, &newline);

    if (taken < 0)
        return taken;
    if (!newline && recording->size == 0 && recording->fault.line > 1)
        return 0;
    json.start = json.at = recording->bytes;
    json.end = recording->bytes + recording->size;
    oteltop_line_parse(&json, &recording->line);
    if (!json.why)
        return check_order(recording);
    if (newline)
        return refuse(recording, (size_t)(json.whereat - json.start) + 1,
                      json.why);
    if (recording->fault.line == 1)
        return refuse(recording, 0,
                      "this is not a recording, or less than its first line");
    return 0;
}

void oteltop_recording_free(struct oteltop_recording *recording)
{
    free(recording->line.attributes.pairs);
    free(recording->bytes);
}
