/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/names.h"

#include "demo/base/hash.h"

#include <stdlib.h>
#include <string.h>

/* The place of a string in the table: its own, or the empty place for it. */
static size_t *find_place(const struct oteltop_names *names, const char *text)
{
    size_t at = otelbase_hash_add(OTELBASE_HASH, text, strlen(text));

    for (;; at++) {
        size_t *const place = &names->table[at & (names->room - 1)];

        if (*place == 0 || strcmp(names->list[*place - 1], text) == 0)
            return place;
    }
}

static bool grow_table(struct oteltop_names *names)
{
    const size_t room = names->room == 0 ? 64 : 2 * names->room;
    size_t *const table = calloc(room, sizeof(*table));
    char **const list = realloc(names->list, room * sizeof(*list));

    if (list)
        names->list = list;
    if (!table || !list) {
        free(table);
        return false;
    }
    free(names->table);
    names->table = table;
    names->room = room;
    for (size_t i = 0; i < names->count; i++)
        *find_place(names, names->list[i]) = i + 1;
    return true;
}

static size_t add_name(struct oteltop_names *names, const char *text)
{
    if (2 * names->count >= names->room && !grow_table(names)) {
        names->is_short = true;
        return 0;
    }

    size_t *const place = find_place(names, text);
    if (*place == 0) {
        char *const copy = strdup(text);

        if (!copy) {
            names->is_short = true;
            return 0;
        }
        names->list[names->count++] = copy;
        *place = names->count;
    }
    return *place - 1;
}

size_t oteltop_names_number(struct oteltop_names *names, const char *text)
{
    if (names->count == 0)
        (void)add_name(names, "");
    return add_name(names, text);
}

void oteltop_names_free(struct oteltop_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
    free(names->table);
    *names = (struct oteltop_names){.count = 0};
}
