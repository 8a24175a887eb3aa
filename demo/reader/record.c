/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/record.h"

#include "demo/reader/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
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

/* Everything that is odd goes into one sentence. */
__attribute__((format(printf, 2, 3))) static void
say(struct otelread_meaning *out, const char *format, ...)
{
    const size_t used = strlen(out->why);
    const char *const between = used > 0 ? "; " : "";
    char text[sizeof(out->why)];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)snprintf(out->why + used, sizeof(out->why) - used, "%s%s", between,
                   text);
}

static struct otelread_meaning *malformed(struct otelread_meaning *out)
{
    out->verdict = OTELREAD_RECORD_MALFORMED;
    return out;
}

static void index_add(struct indexes *set, uint8_t index)
{
    set->count += set->has[index] ? 0 : 1;
    set->has[index] = true;
}

/* "key index 3" or "key indexes 3, 4, ..." and what is with them. */
static void say_indexes(struct otelread_meaning *out, const struct indexes *set,
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
    say(out, "key index%s %s%s: %s", set->count > 1 ? "es" : "", text,
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
    if (list->last != NULL)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
}

/* "Readers MUST use the last occurrence": where that is, for each index. */
static void find_last(const struct otelread_record *record,
                      const uint8_t *last[OTELCTX_KEYS_MAX],
                      struct otelread_meaning *out)
{
    const size_t size = otelread_record_attrs_size(&record->head);
    struct otelread_span left = {record->attrs, size};
    struct indexes repeated = {.count = 0};
    struct entry entry;

    while (entry_next(&left, &entry)) {
        if (last[entry.key] != NULL)
            index_add(&repeated, entry.key);
        last[entry.key] = entry.value.bytes;
    }
    if (record->head.attrs_size > OTELREAD_ATTRS_MAX)
        say(malformed(out),
            "its attributes take %u bytes, of which only %zu are read",
            record->head.attrs_size, OTELREAD_ATTRS_MAX);
    else if (left.size > 0)
        say(malformed(out), "attribute byte %zu: an incomplete entry",
            size - left.size);
    say_indexes(out, &repeated, "more than once, and the last counts");
}

static void decode_attributes(const struct otelread_record *record,
                              const struct otelread_keymap *map,
                              struct otelread_meaning *out)
{
    struct otelread_span left = {record->attrs,
                                 otelread_record_attrs_size(&record->head)};
    const uint8_t *last[OTELCTX_KEYS_MAX] = {NULL};
    struct indexes unknown = {.count = 0};
    struct indexes not_text = {.count = 0};
    struct entry entry;

    find_last(record, last, out);
    while (entry_next(&left, &entry)) {
        if (last[entry.key] != entry.value.bytes)
            continue;
        if (entry.key >= map->count || map->keys[entry.key].bytes == NULL) {
            index_add(&unknown, entry.key);
            continue;
        }
        if (otelread_utf8_span(entry.value.bytes, entry.value.size) <
            entry.value.size)
            index_add(&not_text, entry.key);
        attribute_add(out, map->keys[entry.key], entry.value);
    }
    out->unknown_keys = unknown.count > 0;
    say_indexes(out, &unknown, "not in the key map, and left out");
    say_indexes(out, &not_text, "the value is not UTF-8");
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static void judge_ids(const struct otelctx_record_head *head,
                      struct otelread_meaning *out)
{
    const bool trace = !is_zero(head->trace_id, sizeof(head->trace_id));
    const bool span = !is_zero(head->span_id, sizeof(head->span_id));

    if (trace != span)
        say(malformed(out), "a %s id without a %s id", trace ? "trace" : "span",
            trace ? "span" : "trace");
    else if (!trace && head->trace_flags != 0)
        say(malformed(out), "trace flags without a trace");
}

void otelread_record_decode(const struct otelread_record *record,
                            const struct otelread_keymap *map,
                            struct otelread_meaning *out)
{
    *out = (struct otelread_meaning){.verdict = OTELREAD_RECORD_VALID};
    if (record->address % 2 != 0)
        say(malformed(out), "its address 0x%" PRIx64 " is odd",
            record->address);
    if (record->head.valid != 1) {
        out->verdict = OTELREAD_RECORD_INVALID;
        if (record->head.valid != 0)
            say(out, "valid is %u", record->head.valid);
        return;
    }
    judge_ids(&record->head, out);
    if (record->attrs_missing)
        say(malformed(out), "its attributes (%u bytes) cannot be read",
            record->head.attrs_size);
    else
        decode_attributes(record, map, out);
}
