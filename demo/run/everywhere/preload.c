/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/everywhere/preload.h"

#include "demo/run/doctor/usual.h"

#include <string.h>

/* An entry; begins as {0}. */
struct entry {
    size_t at, size;
};

static bool separates(char c)
{
    return c == ' ' || c == ':' || c == '\t' || c == '\n';
}

/* The end of the line that has this byte: its '\n', or the end of the text. */
static size_t line_end(const struct otelrun_preload *p, size_t at)
{
    while (at < p->size && p->text[at] != '\n')
        at++;
    return at;
}

static size_t line_start(const struct otelrun_preload *p, size_t at)
{
    while (at > 0 && p->text[at - 1] != '\n')
        at--;
    return at;
}

/* Returns false at the end of the text. */
static bool next_entry(const struct otelrun_preload *p, struct entry *e)
{
    size_t at = e->at + e->size;

    while (at < p->size && (separates(p->text[at]) || p->text[at] == '#'))
        at = p->text[at] == '#' ? line_end(p, at) : at + 1;
    e->at = at;
    while (at < p->size && !separates(p->text[at]) && p->text[at] != '#')
        at++;
    e->size = at - e->at;
    return e->size > 0;
}

static bool is_ours(const struct otelrun_preload *p, const struct entry *e)
{
    const size_t size = strlen(OTELRUN_LIBRARY);
    const char *const name = p->text + e->at + e->size - size;

    return e->size >= size && memcmp(name, OTELRUN_LIBRARY, size) == 0 &&
           (e->size == size || name[-1] == '/');
}

static void cut(struct otelrun_preload *p, size_t from, size_t to)
{
    memmove(p->text + from, p->text + to, p->size - to);
    p->size -= to - from;
}

static bool is_blank(const struct otelrun_preload *p, size_t from, size_t to)
{
    while (from < to && separates(p->text[from]))
        from++;
    return from == to;
}

/* Leaves the entry as an empty one where it was. */
static void remove_entry(struct otelrun_preload *p, struct entry *e)
{
    const size_t start = line_start(p, e->at), end = line_end(p, e->at);
    const size_t behind = e->at + e->size;

    if (is_blank(p, start, e->at) && is_blank(p, behind, end)) {
        cut(p, start, end < p->size ? end + 1 : end);
        e->at = start;
    } else if (is_blank(p, behind, end)) {
        while (separates(p->text[e->at - 1]))
            e->at--;
        cut(p, e->at, end);
    } else {
        size_t next = behind;

        while (separates(p->text[next]))
            next++;
        cut(p, e->at, next);
    }
    e->size = 0;
}

unsigned otelrun_preload_remove(struct otelrun_preload *p)
{
    struct entry e = {.size = 0};
    unsigned count = 0;

    while (next_entry(p, &e)) {
        if (!is_ours(p, &e))
            continue;
        remove_entry(p, &e);
        count++;
    }
    return count;
}

bool otelrun_preload_add(struct otelrun_preload *p, const char *path)
{
    const size_t size = strlen(path);
    const bool is_open = p->size > 0 && p->text[p->size - 1] != '\n';

    if (size + 1 + is_open > sizeof(p->text) - p->size)
        return false;
    if (is_open)
        p->text[p->size++] = '\n';
    memcpy(p->text + p->size, path, size);
    p->size += size;
    p->text[p->size++] = '\n';
    return true;
}

bool otelrun_preload_names(const struct otelrun_preload *p, const char *path)
{
    struct entry e = {.size = 0};
    unsigned count = 0, same = 0;

    while (next_entry(p, &e)) {
        if (!is_ours(p, &e))
            continue;
        count++;
        same +=
            e.size == strlen(path) && memcmp(p->text + e.at, path, e.size) == 0;
    }
    return count == 1 && same == 1;
}
