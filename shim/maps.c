/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/maps.h"

#include "config/span.h"
#include "shim/sys.h"
#include "shim/wire.h"

/* Ten thousand lines, some milliseconds. */
enum {
    READ_MAX = 1 << 20
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

/* The address that a line begins with. */
static uintptr_t start_of(struct otelctx_span line)
{
    uintptr_t start = 0;

    for (; line.size > 0 && *line.at != '-'; line.at++, line.size--)
        start = start << 4 | (unsigned)(*line.at <= '9' ? *line.at - '0'
                                                        : *line.at - 'a' + 10);
    return start;
}

/* "START-END PERMS OFFSET DEVICE INODE     NAME" */
static bool is_other(struct otelctx_span line, const void *ours)
{
    struct otelctx_span name = line;

    for (unsigned field = 0; field < 5; field++)
        (void)otelctx_span_cut(&name, ' ');
    return is_name(otelctx_span_trim(name)) &&
           start_of(line) != (uintptr_t)ours;
}

/* Look at the whole lines; what is left of the text goes to its front. */
static bool look(char *text, size_t *used, const void *ours)
{
    struct otelctx_span rest = {text, *used};
    bool found = false;

    for (;;) {
        const struct otelctx_span before = rest;
        const struct otelctx_span line = otelctx_span_cut(&rest, '\n');

        if (line.size == before.size) { /* no newline */
            memmove(text, before.at, before.size);
            *used = before.size;
            return found;
        }
        found = found || is_other(line, ours);
    }
}

bool otelctx_maps_has_other(const void *ours, char *scratch, size_t size)
{
    const int fd = otelctx_sys_open_proc("/proc/self/maps");
    size_t used = 0, total = 0;
    bool found = false;

    if (fd < 0)
        return false;
    while (!found && total < READ_MAX) {
        const long got = otelctx_sys_read_some(fd, scratch + used, size - used);

        if (got <= 0)
            break;
        used += (size_t)got;
        total += (size_t)got;
        found = look(scratch, &used, ours);
        if (used == size)
            used = 0; /* longer than any line that we look for */
    }
    (void)otelctx_sys_close(fd);
    return found;
}
