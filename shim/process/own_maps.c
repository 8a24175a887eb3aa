/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/own_maps.h"

#include "config/span.h"
#include "shim/base/sys.h"
#include "shim/process/publication.h"
#include "shim/wire/process.h"

enum {
    READ_MAX = 1 << 20 /* bytes: 10,000 lines, which take some milliseconds */
};

static bool is_name(struct otelctx_span name)
{
    static const char names[][28] = {
        "/memfd:" OTELCTX_MAPPING_NAME " (deleted)",
        "/memfd:" OTELCTX_MAPPING_NAME,
        "[anon_shmem:" OTELCTX_MAPPING_NAME "]",
        "[anon:" OTELCTX_MAPPING_NAME "]",
    };

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (otelctx_span_equal(name, otelctx_span_from(names[i])))
            return true;
    return false;
}

/* The address at the beginning of a line. */
static uintptr_t start_of(struct otelctx_span line)
{
    uintptr_t start = 0;

    for (; line.size > 0 && *line.at != '-'; line.at++, line.size--)
        start = start << 4 | (unsigned)(*line.at <= '9' ? *line.at - '0'
                                                        : *line.at - 'a' + 10);
    return start;
}

/* "START-END PERMS OFFSET DEVICE INODE     NAME" */
static void parse_line(struct otelctx_span line, const void *ours,
                       struct otelctx_own_maps *out)
{
    struct otelctx_span name = line;
    const void *at;

    for (unsigned field = 0; field < 5; field++)
        (void)otelctx_span_cut(&name, ' ');
    if (!is_name(otelctx_span_trim(name)))
        return;
    at = (const void *)start_of(line);
    if (at == ours)
        out->has_ours = true;
    else if (otelctx_publication_is_taken(at, false))
        out->other = at;
}

/* Parse the complete lines and move the incomplete one to the front. Returns
 * its length. */
static size_t parse_lines(char *text, size_t used, const void *ours,
                          struct otelctx_own_maps *out)
{
    struct otelctx_span rest = {text, used};

    for (;;) {
        const struct otelctx_span before = rest;
        const struct otelctx_span line = otelctx_span_cut(&rest, '\n');

        if (line.size == before.size) { /* no newline */
            memmove(text, before.at, before.size);
            return before.size;
        }
        parse_line(line, ours, out);
    }
}

void otelctx_own_maps_look(const void *ours, char *scratch, size_t size,
                           struct otelctx_own_maps *out)
{
    const int fd = otelctx_sys_open_proc("/proc/self/maps");
    size_t used = 0, total = 0;

    *out = (struct otelctx_own_maps){0};
    if (fd < 0)
        return;
    while (!out->other && total < READ_MAX) {
        const long got = otelctx_sys_read_some(fd, scratch + used, size - used);

        if (got <= 0) {
            out->is_whole = got == 0;
            break;
        }
        used += (size_t)got;
        total += (size_t)got;
        used = parse_lines(scratch, used, ours, out);
        if (used == size)
            used = 0; /* longer than any line with a name of OTEP 4719 */
    }
    (void)otelctx_sys_close(fd);
}
