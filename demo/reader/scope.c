/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/scope.h"

/* A list may be a ring. */
#define NODES_MAX 4096

/* <link.h>, struct r_debug, as far as we need it. */
struct debug {
    int32_t version;
    uint32_t padding;
    uint64_t first;
};

/* <link.h>, struct link_map; musl's own objects begin with it, too. */
struct node {
    uint64_t bias;
    uint64_t name;
    uint64_t dynamic;
    uint64_t next;
};

static const struct otelread_object *
definition_at(const struct otelread_object *objects, size_t count,
              uint64_t dynamic)
{
    for (size_t i = 0; i < count; i++) {
        if (objects[i].defines && objects[i].elf.dynamic == dynamic)
            return &objects[i];
    }
    return NULL;
}

/* The first definition in the list that r_debug begins, or NULL. */
static const struct otelread_object *
list_search(const struct otelread_object *objects, size_t count,
            const struct otelread_elf *executable)
{
    const struct otelread_object *found = NULL;
    struct debug debug;
    struct node node;

    if (executable->read(executable->source, executable->debug, &debug,
                         sizeof(debug)) != 0)
        return NULL;
    node.next = debug.first;
    for (int i = 0; i < NODES_MAX && node.next != 0 && found == NULL; i++) {
        if (executable->read(executable->source, node.next, &node,
                             sizeof(node)) != 0)
            break;
        found = definition_at(objects, count, node.dynamic);
    }
    return found;
}

const struct otelread_object *
otelread_scope_first(const struct otelread_object *objects, size_t count)
{
    const struct otelread_object *first = NULL;
    const struct otelread_object *listed = NULL;
    size_t definitions = 0;

    for (size_t i = 0; i < count; i++) {
        if (objects[i].defines && objects[i].executable)
            return &objects[i];
        if (objects[i].defines && definitions++ == 0)
            first = &objects[i];
    }
    for (size_t i = 0; definitions > 1 && listed == NULL && i < count; i++) {
        if (objects[i].elf.debug != 0)
            listed = list_search(objects, count, &objects[i].elf);
    }
    return listed != NULL ? listed : first;
}
