/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The calls of a thread that is being stepped, in words: "attach 7; attr 0 a".
 * Contexts and the program's records go by their number, which is every byte of
 * their ids.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/otelctx.h"

enum {
    CALL_SIZE = 320, /* of the words of one */
    NUMBERS = 10
};

struct call {
    int (*make)(const struct call *call);
    uint8_t number; /* of a context, or a key's index */
    char text[CALL_SIZE];
};

static struct otelctx_record program_records[NUMBERS], *previous;

struct numbered_ids {
    uint8_t trace_id[16], span_id[8];
};

static inline struct numbered_ids ids_of(uint8_t number)
{
    struct numbered_ids ids;

    memset(&ids, number, sizeof(ids));
    return ids;
}

static inline int call_attach(const struct call *call)
{
    const struct numbered_ids ids = ids_of(call->number);

    return otelctx_attach(ids.trace_id, ids.span_id, call->number & 1);
}

/* A trace without a span, which is refused. */
static inline int call_half(const struct call *call)
{
    const struct numbered_ids ids = ids_of(call->number), none = ids_of(0);

    return otelctx_attach(ids.trace_id, none.span_id, call->number & 1);
}

static inline int call_traceparent(const struct call *call)
{
    return otelctx_attach_traceparent(call->text, strlen(call->text));
}

static inline int call_attr(const struct call *call)
{
    return otelctx_attr(call->number, call->text, strlen(call->text));
}

/* With the text as attribute 0, and attribute 1. */
static inline int call_with(const struct call *call)
{
    const struct numbered_ids ids = ids_of(call->number);
    const struct otelctx_attribute two[] = {
        {0, (uint32_t)strlen(call->text), call->text}, {1, 4, "with"}};

    return otelctx_attach_with(ids.trace_id, ids.span_id, call->number & 1, two,
                               2);
}

static inline int call_unset(const struct call *call)
{
    return otelctx_attr_unset(call->number);
}

static inline int call_detach(const struct call *call)
{
    (void)call;
    return otelctx_detach();
}

static inline int call_get(const struct call *call)
{
    struct otelctx_ids ids;

    (void)call;
    return otelctx_get(&ids);
}

static inline int call_pin(const struct call *call)
{
    (void)call;
    return otelctx_pin() ? 0 : -EBUSY;
}

/* A record of the program's, and its attribute 0. */
static inline int call_record(const struct call *call)
{
    const struct numbered_ids ids = ids_of(call->number);
    struct otelctx_record *const record = &program_records[call->number];

    return otelctx_record_init(record, ids.trace_id, ids.span_id,
                               call->number & 1);
}

static inline int call_record_attr(const struct call *call)
{
    return otelctx_record_attr(&program_records[call->number], 0, call->text,
                               strlen(call->text));
}

/* 0: without a record. */
static inline int call_swap(const struct call *call)
{
    struct otelctx_record *const record =
        call->number ? &program_records[call->number] : NULL;

    return otelctx_swap(record, &previous);
}

static inline int call_swap_back(const struct call *call)
{
    (void)call;
    return otelctx_swap(previous, NULL);
}

/* The context of all threads, which a new one has: OTELCTX_TRACEPARENT=all. */
static inline int call_all(const struct call *call)
{
    static struct otelctx_record *all;

    (void)call;
    if (!all)
        (void)otelctx_swap(NULL, &all);
    return otelctx_swap(all, NULL);
}

static inline struct call call_parse(const char *words)
{
    static const struct {
        const char *name;
        int (*make)(const struct call *call);
    } calls[] = {
        {"attach", call_attach},
        {"half", call_half},
        {"traceparent", call_traceparent},
        {"attr", call_attr},
        {"with", call_with},
        {"unset", call_unset},
        {"detach", call_detach},
        {"get", call_get},
        {"pin", call_pin},
        {"record", call_record},
        {"recordattr", call_record_attr},
        {"swap", call_swap},
        {"back", call_swap_back},
        {"all", call_all},
    };
    struct call call = {.make = NULL};
    char name[16] = "";

    sscanf(words, " %15[a-z] %hhu %319[^;]", name, &call.number, call.text);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(name, calls[i].name) == 0)
            call.make = calls[i].make;
    if (!call.make)
        abort(); /* no such call */
    return call;
}

/* Makes them one after the other, all of which succeed. */
static inline void make_calls(const char *words)
{
    while (words) {
        const struct call call = call_parse(words);

        if (call.make(&call) < 0)
            abort();
        words = strchr(words, ';');
        words = words ? words + 1 : NULL;
    }
}
