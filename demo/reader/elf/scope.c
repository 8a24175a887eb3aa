/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/scope.h"

#include <string.h>

/* Limits against lists that are rings. */
#define NODES_MAX 4096
#define LISTS_MAX 64

/* <link.h>, struct r_debug, and what glibc has behind it from version 2 on. */
struct debug {
    int32_t version;
    uint32_t padding;
    uint64_t first;
};
#define DEBUG_NEXT 40

/* <link.h>, struct link_map; musl's own objects begin with it, too. */
struct node {
    uint64_t bias;
    uint64_t name;
    uint64_t dynamic;
    uint64_t next;
    uint64_t previous;
};

/* Objects in the order of the lists, as far as these were followed. */
struct order {
    struct otelread_object *objects;
    size_t count;
    size_t done; /* the first ones */
};

static int memory_read(const struct order *order, uint64_t address, void *out,
                       size_t size)
{
    const struct otelread_elf *const any = &order->objects[0].elf;

    return any->read(any->source, address, out, size);
}

/* The others stay in the order of their addresses. */
static void take(struct order *order, uint64_t dynamic)
{
    struct otelread_object *const next = order->objects + order->done;

    for (size_t i = 0; i < order->count - order->done; i++) {
        const struct otelread_object object = next[i];

        if (object.elf.dynamic != dynamic)
            continue;
        (void)memmove(next + 1, next, i * sizeof(*next));
        *next = object;
        order->done++;
        return;
    }
}

/* Returns whether it could be followed to its end: it may change meanwhile. */
static bool list_follow(struct order *order, uint64_t first)
{
    uint64_t at = first;
    uint64_t previous = 0;

    for (int i = 0; i < NODES_MAX && at != 0; i++) {
        struct node node;

        if (memory_read(order, at, &node, sizeof(node)) != 0 ||
            node.previous != previous)
            return false;
        take(order, node.dynamic);
        previous = at;
        at = node.next;
    }
    return at == 0;
}

/* One after the other: dlmopen(3) makes more. */
static bool lists_follow(struct order *order, uint64_t address)
{
    struct debug debug;

    for (int i = 0; i < LISTS_MAX && address != 0; i++) {
        if (memory_read(order, address, &debug, sizeof(debug)) != 0 ||
            !list_follow(order, debug.first))
            return false;
        if (debug.version < 2)
            return true;
        if (memory_read(order, address + DEBUG_NEXT, &address,
                        sizeof(address)) != 0)
            return false;
    }
    return address == 0;
}

/* The program's, by which debuggers find the lists: it is the first in them. */
static uint64_t debug_find(const struct otelread_object *objects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct otelread_elf *const elf = &objects[i].elf;
        struct debug debug;
        struct node node;

        if (elf->debug != 0 &&
            elf->read(elf->source, elf->debug, &debug, sizeof(debug)) == 0 &&
            elf->read(elf->source, debug.first, &node, sizeof(node)) == 0 &&
            node.dynamic == elf->dynamic)
            return elf->debug;
    }
    return 0;
}

size_t otelread_scope_loaded(struct otelread_object *objects, size_t count)
{
    struct order order = {.objects = objects, .count = count};
    const uint64_t debug = debug_find(objects, count);

    return debug != 0 && lists_follow(&order, debug) ? order.done : 0;
}

const struct otelread_object *
otelread_scope_first(const struct otelread_object *objects, size_t count)
{
    const struct otelread_object *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (objects[i].defines && objects[i].executable)
            return &objects[i];
        if (objects[i].defines && !first)
            first = &objects[i];
    }
    return first;
}
