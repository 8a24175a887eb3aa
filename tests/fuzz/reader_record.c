/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A thread's record, decoded and printed in both ways. The first byte is the
 * number of keys, the second says what else is wrong, the rest is the record,
 * and its bytes are the keys' names as well.
 */
#include "demo/reader/print/json.h"
#include "demo/reader/print/text.h"
#include "demo/reader/report/threads.h"
#include "tests/fuzz/fuzz.h"

static bool is_inside(const uint8_t *start, size_t size,
                      struct otelread_span span)
{
    return span.bytes >= start && span.bytes + span.size <= start + size;
}

/* Inside of the bytes that were read, and at most one of each key. */
static void check(const struct otelread_record *record,
                  const struct otelread_meaning *meaning, const char *why)
{
    const size_t size = otelread_record_attrs_size(&record->head);
    size_t count = 0;

    for (const struct otelread_node *node = meaning->attributes.first; node;
         node = node->next) {
        require(is_inside(record->attrs, size, node->span));
        require(node->span.bytes[-1] == node->span.size);
        for (const struct otelread_node *other = node->next; other;
             other = other->next)
            require(other->span.bytes[-2] != node->span.bytes[-2]);
        count++;
    }
    require(count == meaning->attributes.count);
    require(count == 0 || (record->head.valid == 1 && !record->attrs_missing));
    require((meaning->verdict == OTELREAD_RECORD_INVALID) ==
            (record->head.valid != 1));
    require(is_harmless(why, strlen(why)));
    require(meaning->verdict != OTELREAD_RECORD_MALFORMED || why[0] != '\0');
}

/* The record's bytes are those of a slot, and of the profiler's ids, as well.
 */
static void take_storages(struct otelread_thread *thread,
                          struct otelread_threads *threads,
                          const uint8_t *bytes)
{
    struct otelread_snapshot snapshot = {.slot_error = 0};
    const struct otelread_symbol symbol = {.libc = OTELREAD_GLIBC};
    const struct otelread_places places = {.profiler = &symbol,
                                           .ring = &threads->ring};

    threads->ring.status = OTELREAD_RING_OK;
    threads->ring.header.capacity = 1U + bytes[0];
    threads->ring.leftovers_count = 1;
    memcpy(&snapshot.ring, bytes, 28);
    memcpy(&snapshot.profiler, bytes, 28);
    memcpy(&threads->ring.leftovers[0].slot, bytes, 28);
    thread->storages.inside = bytes[24];
    otelread_storages_judge(&thread->storages, &snapshot, &places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t head = sizeof(struct otelctx_record_head);

    if (size < 2 + head || size > 2 + OTELCTX_RECORD_SIZE)
        return 0;

    struct otelread_thread thread = {.tid = 1, .has_record = true};
    struct otelread_threads threads = {
        .sample = {.threads = &thread, .count = 1}};
    struct otelread_report report = {.threads = &threads};

    threads.map.count = data[0];
    for (size_t i = 0; i < threads.map.count; i++)
        threads.map.keys[i] = (struct otelread_span){
            i % 8 == 7 ? NULL : data + 2, i % (size - 2)};
    thread.record.address = data[1] & 1;
    thread.record.attrs_missing = (data[1] & 2) != 0;
    memcpy(&thread.record.head, data + 2, head);
    memcpy(thread.record.attrs, data + 2 + head, size - 2 - head);
    memcpy(thread.stat.command, data + 2, 16);

    take_storages(&thread, &threads, data + 2);
    (void)otelread_thread_disagrees(&thread);
    (void)otelread_thread_interpret(&thread, &threads.map);
    check(&thread.record, &thread.meaning, thread.message);
    print(otelread_json_print, &report);
    print(otelread_text_print, &report);
    otelread_thread_free(&thread);
    return 0;
}
