/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/table/dimension.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int oteltop_dimensions_parse(struct oteltop_dimensions *out, const char *text)
{
    struct oteltop_dimensions parsed = {.text = strdup(text)};
    char *rest = parsed.text;

    if (!rest)
        return -ENOMEM;
    while (rest) {
        const char *const name = strsep(&rest, ",");

        const int error = name[0] == '\0'                          ? -EINVAL
                          : parsed.count == OTELTOP_DIMENSIONS_MAX ? -E2BIG
                                                                   : 0;

        if (error != 0) {
            free(parsed.text);
            return error;
        }
        parsed.names[parsed.count++] = name;
    }
    oteltop_dimensions_free(out);
    *out = parsed;
    return 0;
}

void oteltop_dimensions_free(struct oteltop_dimensions *dimensions)
{
    free(dimensions->text);
    *dimensions = (struct oteltop_dimensions){.count = 0};
}

/* ---- values ------------------------------------------------------------- */

typedef const char *value_of(const struct oteltop_cell *cell, char *room);

static const char *or_none(const char *value, const char *otherwise)
{
    return value ? value : otherwise;
}

static const char *hexadecimal(char *room, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        (void)snprintf(room + 2 * i, 3, "%02x", bytes[i]);
    return room;
}

static const char *service(const struct oteltop_cell *cell, char *room)
{
    const struct oteltop_process *const process = cell->thread->process;
    const char *const name =
        oteltop_attributes_find(&process->resource, "service.name");

    if (name)
        return name;
    if (strcmp(or_none(process->context, ""), "ok") == 0)
        return "(no service.name)";
    /* "no_permission" and so on */
    (void)snprintf(room, OTELTOP_VALUE_SIZE, "(%s)",
                   or_none(process->context, "no context"));
    for (char *i = room; (i = strchr(i, '_'));)
        *i = ' ';
    return room;
}

/* The value where a span has none: the reason. */
static const char *absent(const struct oteltop_cell *cell, const char *what)
{
    return strcmp(or_none(cell->none, ""), "not_sampled") == 0 ? "(not sampled)"
                                                               : what;
}

/* The number of bytes of a name, in whole characters, that leave room for a
 * number. */
static size_t fitting(const char *name, size_t size)
{
    const size_t most = OTELTOP_VALUE_SIZE - sizeof(" -2147483648");

    if (size <= most)
        return size;
    size = most;
    while (size > 0 && ((unsigned char)name[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static const char *process(const struct oteltop_cell *cell, char *room)
{
    const struct oteltop_process *const process = cell->thread->process;
    const char *const command = or_none(process->command, "?");
    const char *name = command;

    /* The base name of the executed file. */
    for (const char *i = command; *i != '\0' && *i != ' '; i++) {
        if (*i == '/' && i[1] != '\0' && i[1] != ' ')
            name = i + 1;
    }
    (void)snprintf(room, OTELTOP_VALUE_SIZE, "%.*s %d",
                   (int)fitting(name, strcspn(name, " ")), name,
                   (int)process->pid);
    return room;
}

static const char *thread(const struct oteltop_cell *cell, char *room)
{
    (void)snprintf(room, OTELTOP_VALUE_SIZE, "%s %d", cell->thread->name,
                   (int)cell->thread->tid);
    return room;
}

static const char *trace(const struct oteltop_cell *cell, char *room)
{
    return cell->span ? hexadecimal(room, cell->span->trace_id,
                                    sizeof(cell->span->trace_id))
                      : absent(cell, "(no trace)");
}

static const char *span(const struct oteltop_cell *cell, char *room)
{
    return cell->span ? hexadecimal(room, cell->span->span_id,
                                    sizeof(cell->span->span_id))
                      : absent(cell, "(no span)");
}

static const char *state(const struct oteltop_cell *cell, char *room)
{
    room[0] = cell->state;
    room[1] = '\0';
    return room;
}

static const char *container(const struct oteltop_cell *cell, char *room)
{
    (void)room;
    return or_none(cell->thread->process->container, "(no container)");
}

static const char *pod(const struct oteltop_cell *cell, char *room)
{
    (void)room;
    return or_none(cell->thread->process->pod, "(no pod)");
}

static const char *cgroup(const struct oteltop_cell *cell, char *room)
{
    (void)room;
    return or_none(cell->thread->process->cgroup, "(no cgroup)");
}

static const struct {
    const char *name;
    value_of *value;
} known[] = {
    {"service", service}, {"process", process},     {"thread", thread},
    {"trace", trace},     {"span", span},           {"state", state},
    {"pod", pod},         {"container", container}, {"cgroup", cgroup},
};

/* A thread's attribute takes precedence over the resource's. */
static const char *attribute(const char *name, const struct oteltop_cell *cell,
                             char *room)
{
    const char *value =
        cell->span ? oteltop_attributes_find(&cell->span->attributes, name)
                   : NULL;

    if (!value)
        value = oteltop_attributes_find(&cell->thread->process->resource, name);
    if (value)
        return value;
    if (!cell->span)
        return absent(cell, "(no span)");
    (void)snprintf(room, OTELTOP_VALUE_SIZE, "(no %s)", name);
    return room;
}

static const char *value(const char *name, const struct oteltop_cell *cell,
                         char *room)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(name, known[i].name) == 0)
            return known[i].value(cell, room);
    }
    return attribute(name, cell, room);
}

const char *oteltop_dimension_value(const char *name,
                                    const struct oteltop_cell *cell,
                                    char room[OTELTOP_VALUE_SIZE])
{
    const char *const found = value(name, cell, room);

    /* Profiles need a name for every frame. */
    return found[0] != '\0' ? found : "(empty)";
}
