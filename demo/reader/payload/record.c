/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/record.h"

#include "demo/base/message.h"
#include "demo/base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One attribute: a key index, the length of its value, the value. */
struct entry {
    uint8_t key;
    struct otelread_span value;
};

/* A set of key indexes. */
struct indexes {
    bool has[OTELCTX_KEYS_MAX];
    size_t count;
};

/* One record being decoded. */
struct decoding {
    const struct otelread_record *record;
    const struct otelread_keymap *map;
    const uint8_t *last[OTELCTX_KEYS_MAX]; /* value that counts, or NULL */
    struct otelread_meaning *out;
    char *why;
    size_t why_size;
};

/* Everything that is odd goes into one sentence. */
#define SAY(decoding, ...)                                                     \
    otelbase_message_add((decoding)->why, (decoding)->why_size, __VA_ARGS__)

#define SAY_MALFORMED(decoding, ...)                                           \
    do {                                                                       \
        (decoding)->out->verdict = OTELREAD_RECORD_MALFORMED;                  \
        SAY((decoding), __VA_ARGS__);                                          \
    } while (0)

static void index_add(struct indexes *set, uint8_t index)
{
    set->count += set->has[index] ? 0 : 1;
    set->has[index] = true;
}

/* "key index 3: what" or "key indexes 3, 4, ...: what" */
static void say_indexes(struct decoding *decoding, const struct indexes *set,
                        const char *what)
{
    char text[64] = "";
    size_t used = 0;

    if (set->count == 0)
        return;
    for (size_t i = 0; i < OTELCTX_KEYS_MAX && used < sizeof(text) - 16; i++) {
        if (set->has[i])
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu",
                                     used > 0 ? ", " : "", i);
    }
    SAY(decoding, "key index%s %s%s: %s", set->count > 1 ? "es" : "", text,
        used < sizeof(text) - 16 ? "" : ", ...", what);
}

size_t otelread_record_attrs_size(const struct otelctx_record_head *head)
{
    return head->attrs_size < OTELREAD_ATTRS_MAX ? head->attrs_size
                                                 : OTELREAD_ATTRS_MAX;
}

/* "Readers MUST stop if the remaining buffer cannot hold a complete entry." */
static bool entry_next(struct otelread_span *left, struct entry *entry)
{
    if (left->size < 2 || left->size - 2 < left->bytes[1])
        return false;
    *entry = (struct entry){.key = left->bytes[0],
                            .value = {left->bytes + 2, left->bytes[1]}};
    left->bytes += 2 + entry->value.size;
    left->size -= 2 + entry->value.size;
    return true;
}

static void attribute_add(struct otelread_meaning *out,
                          struct otelread_span key, struct otelread_span value)
{
    struct otelread_list *const list = &out->attributes;
    struct otelread_node *const node = &out->nodes[list->count++];

    *node = (struct otelread_node){
        .key = key, .kind = OTELREAD_STRING, .span = value};
    if (list->last)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
}

static struct otelread_span attrs_of(const struct otelread_record *record)
{
    return (struct otelread_span){record->attrs,
                                  otelread_record_attrs_size(&record->head)};
}

/*
 * "Readers MUST use the last occurrence": where that is, for each index.
 * Returns how many indexes there are.
 */
static size_t find_last(struct decoding *decoding)
{
    const struct otelread_record *const record = decoding->record;
    const size_t size = otelread_record_attrs_size(&record->head);
    struct otelread_span left = attrs_of(record);
    struct indexes repeated = {.count = 0};
    size_t distinct = 0;
    struct entry entry;

    while (entry_next(&left, &entry)) {
        if (decoding->last[entry.key])
            index_add(&repeated, entry.key);
        else
            distinct++;
        decoding->last[entry.key] = entry.value.bytes;
    }
    if (record->head.attrs_size > OTELREAD_ATTRS_MAX)
        SAY_MALFORMED(
            decoding,
            "its attributes take %u bytes, of which only %zu are read",
            record->head.attrs_size, OTELREAD_ATTRS_MAX);
    else if (left.size > 0)
        SAY_MALFORMED(decoding, "attribute byte %zu: an incomplete entry",
                      size - left.size);
    say_indexes(decoding, &repeated, "more than once, and the last counts");
    return distinct;
}

static void take_attributes(struct decoding *decoding)
{
    const struct otelread_keymap *const map = decoding->map;
    struct otelread_span left = attrs_of(decoding->record);
    struct indexes unknown = {.count = 0};
    struct indexes not_text = {.count = 0};
    struct entry entry;

    while (entry_next(&left, &entry)) {
        if (decoding->last[entry.key] != entry.value.bytes)
            continue;
        if (entry.key >= map->count || !map->keys[entry.key].bytes) {
            index_add(&unknown, entry.key);
            continue;
        }
        if (otelbase_utf8_span(entry.value.bytes, entry.value.size) <
            entry.value.size)
            index_add(&not_text, entry.key);
        attribute_add(decoding->out, map->keys[entry.key], entry.value);
    }
    decoding->out->unknown_keys = unknown.count > 0;
    say_indexes(decoding, &unknown, "not in the key map, and left out");
    say_indexes(decoding, &not_text, "the value is not UTF-8");
}

static int decode_attributes(struct decoding *decoding)
{
    const size_t distinct = find_last(decoding);

    if (distinct == 0)
        return 0;
    decoding->out->nodes = calloc(distinct, sizeof(*decoding->out->nodes));
    if (!decoding->out->nodes)
        return -ENOMEM;
    take_attributes(decoding);
    return 0;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static void judge_ids(struct decoding *decoding)
{
    const struct otelctx_record_head *const head = &decoding->record->head;
    const bool trace = !is_zero(head->trace_id, sizeof(head->trace_id));
    const bool span = !is_zero(head->span_id, sizeof(head->span_id));

    if (trace != span)
        SAY_MALFORMED(decoding, "a %s id without a %s id",
                      trace ? "trace" : "span", trace ? "span" : "trace");
    else if (!trace && head->trace_flags != 0)
        SAY_MALFORMED(decoding, "trace flags without a trace");
}

int otelread_record_decode(const struct otelread_record *record,
                           const struct otelread_keymap *map,
                           struct otelread_meaning *out, char *why,
                           size_t why_size)
{
    struct decoding decoding = {.record = record,
                                .map = map,
                                .out = out,
                                .why = why,
                                .why_size = why_size};

    *out = (struct otelread_meaning){.verdict = OTELREAD_RECORD_VALID};
    (void)snprintf(why, why_size, "%s", "");
    if (record->address % 2 != 0)
        SAY_MALFORMED(&decoding, "its address 0x%" PRIx64 " is odd",
                      record->address);
    if (record->head.valid != 1) {
        out->verdict = OTELREAD_RECORD_INVALID;
        if (record->head.valid != 0)
            SAY(&decoding, "valid is %u", record->head.valid);
        return 0;
    }
    judge_ids(&decoding);
    if (!record->attrs_missing)
        return decode_attributes(&decoding);
    SAY_MALFORMED(&decoding, "its attributes (%u bytes) cannot be read",
                  record->head.attrs_size);
    return 0;
}

void otelread_meaning_free(struct otelread_meaning *meaning)
{
    free(meaning->nodes);
    *meaning = (struct otelread_meaning){.nodes = NULL};
}
