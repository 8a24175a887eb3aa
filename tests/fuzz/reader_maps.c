/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The first byte is the size of the pieces in which the rest arrives; in
 * pieces of another size it must give the same mappings.
 */
#include "demo/reader/os/maps.h"
#include "tests/fuzz/fuzz.h"

struct source {
    const uint8_t *bytes;
    size_t size;
    size_t piece;
};

static ssize_t source_read(void *opaque, void *out, size_t size)
{
    struct source *const source = opaque;
    size_t take = source->piece < size ? source->piece : size;

    if (take > source->size)
        take = source->size;
    memcpy(out, source->bytes, take);
    source->bytes += take;
    source->size -= take;
    return (ssize_t)take;
}

static void check(const struct otelread_mapping *mapping)
{
    if (mapping->start >= mapping->end || strlen(mapping->permissions) != 4 ||
        (strncmp(mapping->name, "/memfd:OTEL_CTX", 15) != 0 &&
         strncmp(mapping->name, "[anon", 5) != 0))
        abort();
}

/* Every line, contexts or not. */
static void compare_lines(const uint8_t *data, size_t size)
{
    struct source small = {data + 1, size - 1, (size_t)data[0] + 1};
    struct source whole = {data + 1, size - 1, SIZE_MAX};
    struct otelread_maps a = {.read = source_read, .source = &small};
    struct otelread_maps b = {.read = source_read, .source = &whole};
    struct otelread_maps_line in_a;
    struct otelread_maps_line in_b;
    int more;

    while ((more = otelread_maps_next_line(&a, &in_a)) > 0) {
        if (otelread_maps_next_line(&b, &in_b) != more ||
            in_a.start >= in_a.end || in_a.start != in_b.start ||
            in_a.offset != in_b.offset || in_a.name_size != in_b.name_size ||
            memcmp(in_a.name, in_b.name, in_a.name_size) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;

    struct source small = {data + 1, size - 1, (size_t)data[0] + 1};
    struct source whole = {data + 1, size - 1, SIZE_MAX};
    struct otelread_maps a = {.read = source_read, .source = &small};
    struct otelread_maps b = {.read = source_read, .source = &whole};
    struct otelread_mapping in_a = {.start = 0};
    struct otelread_mapping in_b = {.start = 0};
    int more;

    compare_lines(data, size);
    do {
        more = otelread_maps_next(&a, &in_a);
        if (more != otelread_maps_next(&b, &in_b))
            abort();
        if (more == 1)
            check(&in_a);
        if (more == 1 &&
            (in_a.start != in_b.start || strcmp(in_a.name, in_b.name) != 0))
            abort();
    } while (more == 1);
    return 0;
}
