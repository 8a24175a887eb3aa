/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/record.h"

#include "tests/fuzz/fuzz.h"

/*
 * Any series of changes to a record: after each one it is what a simple map
 * says, and nothing else of it has changed. First come a byte that says whether
 * the record is new, or what follows, as another writer might have left it: its
 * size in two bytes and attributes. Then the changes: a byte that says how, the
 * key, and, for a value, its size in two bytes and its bytes.
 */
enum {
    ATTRS_MAX = 612,
    UNSET = 1, /* of a change's first byte */
    IN_VIEW = 2
};

/* In the order in which they are in the record. */
struct map {
    struct {
        uint8_t key;
        struct otelctx_span value;
    } pairs[ATTRS_MAX / 2 + 1];
    size_t count;
};

/* The pair of a key, or their number. */
static size_t find(const struct map *map, uint8_t key)
{
    size_t i = 0;

    while (i < map->count && map->pairs[i].key != key)
        i++;
    return i;
}

static size_t size_of(const struct map *map)
{
    size_t size = 0;

    for (size_t i = 0; i < map->count; i++)
        size += 2 + map->pairs[i].value.size;
    return size;
}

/* What otelctx_record_change() must return; 0 has been done. */
static int change_map(struct map *map, uint8_t key,
                      const struct otelctx_span *value)
{
    const size_t i = find(map, key);
    const size_t old = i < map->count ? 2 + map->pairs[i].value.size : 0;

    if (value && size_of(map) - old + 2 + value->size > ATTRS_MAX)
        return -ENOSPC;
    if (value) {
        map->pairs[i].key = key;
        map->pairs[i].value = *value;
        map->count += old == 0;
    } else if (old > 0) {
        map->count--;
        memmove(&map->pairs[i], &map->pairs[i + 1],
                (map->count - i) * sizeof(map->pairs[0]));
    }
    return 0;
}

/* OTEP 4947, "Reading Protocol". Does the record have just what the map has? */
static bool is_same(const struct otelctx_record *record, const struct map *map)
{
    size_t at = 0;

    for (size_t i = 0; i < map->count; i++) {
        const struct otelctx_span value = map->pairs[i].value;

        if (at + 2 + value.size > record->attrs_size ||
            record->attrs[at] != map->pairs[i].key ||
            record->attrs[at + 1] != value.size ||
            (value.size > 0 &&
             memcmp(&record->attrs[at + 2], value.at, value.size) != 0))
            return false;
        at += 2 + value.size;
    }
    return at == record->attrs_size;
}

/*
 * Another writer's attributes. Returns 0, -EINVAL (malformed) or -EEXIST: of a
 * key that is there twice the map knows nothing.
 */
static int parse(const struct otelctx_record *record, struct map *map)
{
    static struct otelctx_record copy; /* which the map borrows */
    size_t left = record->attrs_size;
    int result = 0;

    copy = *record;
    map->count = 0;
    for (const uint8_t *at = copy.attrs; left > 0; map->count++) {
        if (record->attrs_size > ATTRS_MAX || left < 2 || left - 2 < at[1])
            return -EINVAL;
        if (find(map, at[0]) < map->count)
            result = -EEXIST;
        map->pairs[map->count].key = at[0];
        map->pairs[map->count].value =
            (struct otelctx_span){(const char *)at + 2, at[1]};
        left -= (size_t)2 + at[1];
        at += (size_t)2 + at[1];
    }
    return result;
}

/* As otelctx_thread_attr() does it with a record that readers can see. */
static int change_in_view(struct otelctx_record *record, uint8_t key,
                          const struct otelctx_span *value)
{
    struct otelctx_record before = *record;
    struct otelctx_change c;
    const int err = otelctx_change_plan(record, key, value, &c);

    require(memcmp(record, &before, sizeof(before)) == 0);
    if (err)
        return err;
    if (c.removed == 0) /* what is there stays there */
        require(!otelctx_change_needs_hiding(record, &c));
    otelctx_change_apply(record, &c, key, value);
    if (c.removed == 0)
        require(memcmp(record->attrs, before.attrs, before.attrs_size) == 0);
    return 0;
}

/* The value as it would be stored; false: it is none. */
static bool take_value(struct otelctx_span *data, struct otelctx_span *value)
{
    const uint8_t *bytes;
    size_t given;
    int got;

    *value = take_bytes(data, take_size(data));
    given = value->size;
    bytes = (const void *)value->at;
    got = otelctx_value_cut(value);
    if (got < 0)
        return false;
    require(value->size <= OTELCTX_VALUE_MAX &&
            (got == 0 || value->size + 4 > OTELCTX_VALUE_MAX));
    require(got == (value->size < given));
    require(otelbase_utf8_span(bytes, value->size) == value->size);
    return true;
}

static void change(struct otelctx_record *record, struct map *map,
                   struct otelctx_span *data)
{
    const struct otelctx_record before = *record;
    const uint8_t how = take_byte(data), key = take_byte(data);
    struct otelctx_span value;
    int expected, got;

    if (!(how & UNSET) && !take_value(data, &value))
        return;
    expected = change_map(map, key, how & UNSET ? NULL : &value);
    got = (how & IN_VIEW ? change_in_view : otelctx_record_change)(
        record, key, how & UNSET ? NULL : &value);
    require(got == expected);
    require(!got || memcmp(record, &before, sizeof(before)) == 0);
    require(memcmp(record, &before,
                   offsetof(struct otelctx_record, attrs_size)) == 0);
    require(is_same(record, map));
}

/* Every change is refused and changes nothing. */
static void check_malformed(struct otelctx_record *record, uint8_t key)
{
    const struct otelctx_record before = *record;
    const struct otelctx_span value = OTELCTX_SPAN("x");

    require(otelctx_record_change(record, key, &value) == -EINVAL);
    require(otelctx_record_change(record, key, NULL) == -EINVAL);
    require(memcmp(record, &before, sizeof(before)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct otelctx_record *record = malloc(sizeof(*record)); /* for ASan */
    struct otelctx_span rest = {(const char *)data, size}, attrs;
    static struct map map;
    int parsed;

    memset(record, 0xa5, sizeof(*record));
    record->attrs_size = 0;
    if (take_byte(&rest)) {
        record->attrs_size = (uint16_t)take_size(&rest);
        attrs = take_bytes(&rest, record->attrs_size);
        memcpy(record->attrs, attrs.at,
               attrs.size < ATTRS_MAX ? attrs.size : ATTRS_MAX);
    }
    parsed = parse(record, &map);
    if (parsed == -EINVAL)
        check_malformed(record, take_byte(&rest));
    while (parsed == 0 && rest.size > 0)
        change(record, &map, &rest);
    free(record);
    return 0;
}
