/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a reader makes of the context of a thread that stands still, by the
 * letter of OTEP 4947, "Reading Protocol", "2. Thread Sampling".
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shim/wire/thread.h"
#include "tests/e2e/step_peek.h"

struct seen {
    uint64_t record; /* what the slot holds; 0: nothing is attached */
    struct otelctx_record_head head;
    uint8_t attrs[OTELCTX_RECORD_SIZE - sizeof(struct otelctx_record_head)];
    struct {
        const uint8_t *at; /* NULL: it has no such attribute */
        uint8_t size;
    } value[OTELCTX_KEYS_MAX];
    bool whole; /* the attributes end where the last one ends */
};

/* Is there a context? */
static inline bool seen_attached(const struct seen *seen)
{
    return seen->record != 0 && seen->head.valid == 1;
}

static inline void see_attributes(struct seen *seen)
{
    const uint8_t *at = seen->attrs, *const end = at + seen->head.attrs_size;

    while (end - at >= 2 && end - at >= 2 + at[1]) {
        seen->value[at[0]].at = at + 2; /* of duplicates the last counts */
        seen->value[at[0]].size = at[1];
        at += 2 + at[1];
    }
    seen->whole = at == end;
}

/* The context that this slot of that process leads to. */
static inline void see(pid_t pid, uint64_t slot, struct seen *seen)
{
    memset(seen, 0, sizeof(*seen));
    STEP_ASSERT(peek(pid, slot, &seen->record, sizeof(seen->record)),
                "no slot");
    if (seen->record == 0)
        return;
    STEP_ASSERT(seen->record % 2 == 0, "a record at an odd address");
    STEP_ASSERT(peek(pid, seen->record, &seen->head, sizeof(seen->head)),
                "a pointer to nowhere");
    if (seen->head.valid != 1)
        return;
    STEP_ASSERT(seen->head.attrs_size <= sizeof(seen->attrs) &&
                    peek(pid, seen->record + sizeof(seen->head), seen->attrs,
                         seen->head.attrs_size),
                "%u bytes of attributes", seen->head.attrs_size);
    see_attributes(seen);
}

/*
 * The same in words: "-" for no context, "7 0=a 2=bcd" for the ids and the
 * attributes by key index. Ids are as tests attach them: the number in each
 * byte, its last bit as the flags. All others are written out.
 */
struct words {
    char text[2048]; /* longer than a record */
};

static inline bool seen_is_number(const struct otelctx_record_head *head)
{
    uint8_t ids[sizeof(head->trace_id) + sizeof(head->span_id)];

    memset(ids, head->trace_id[0], sizeof(ids));
    return memcmp(head, ids, sizeof(ids)) == 0 &&
           head->trace_flags == (head->trace_id[0] & 1);
}

static inline void words_add(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void words_add(struct words *words, const char *format, ...)
{
    const size_t size = strlen(words->text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words->text + size, sizeof(words->text) - size, format,
              arguments);
    va_end(arguments);
}

static inline void words_add_ids(struct words *words,
                                 const struct otelctx_record_head *head)
{
    if (seen_is_number(head)) {
        words_add(words, "%u", head->trace_id[0]);
        return;
    }
    for (size_t i = 0; i < sizeof(head->trace_id); i++)
        words_add(words, "%02x", head->trace_id[i]);
    for (size_t i = 0; i < sizeof(head->span_id); i++)
        words_add(words, "%02x", head->span_id[i]);
    words_add(words, "/%u", head->trace_flags);
}

static inline struct words seen_words(const struct seen *seen)
{
    struct words words = {""};

    if (!seen_attached(seen)) {
        words_add(&words, "-");
        return words;
    }
    words_add_ids(&words, &seen->head);
    for (unsigned key = 0; key < OTELCTX_KEYS_MAX; key++)
        if (seen->value[key].at)
            words_add(&words, " %u=%.*s", key, seen->value[key].size,
                      (const char *)seen->value[key].at);
    if (!seen->whole)
        words_add(&words, " and a part");
    return words;
}
