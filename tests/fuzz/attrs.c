/* SPDX-License-Identifier: Apache-2.0 */
#include "config/attrs.h"

#include "tests/fuzz/fuzz.h"

/*
 * Any text of OTEL_RESOURCE_ATTRIBUTES. The first two bytes are the size of the
 * scratch memory. Text and scratch have no spare bytes, so that ASan sees an
 * access beyond them.
 */
/* Checked by the reader, which shares no code with the parser. */
static bool is_text(struct otelctx_span s)
{
    const uint8_t *bytes = (const void *)s.at;

    return otelbase_utf8_span(bytes, s.size) == s.size &&
           (s.size == 0 || !memchr(s.at, 0, s.size));
}

static void check_pair(const struct otelctx_attrs *it,
                       const struct otelctx_pair *pair)
{
    require(pair->key.size > 0);
    require(is_text(pair->key));
    require(is_text(pair->value));
    require(pair->pos >= 1 && pair->pos <= it->text.size);
    require(pair->key.size + pair->value.size <= it->scratch_size);
}

static void check_fault(const struct otelctx_attrs *it, int got,
                        const struct otelctx_fault *fault)
{
    require(got == -EINVAL || got == -ENOSPC);
    require(fault->pos >= 1 && fault->pos <= it->text.size + 1);
    require(fault->why && fault->why[0]);
}

static void parse(struct otelctx_attrs it)
{
    struct otelctx_pair pair = {.pos = 0}, before;
    struct otelctx_fault fault = {.pos = 0};
    size_t last_pos = 0;
    int got;

    do {
        before = pair;
        got = otelctx_attrs_next(&it, &pair, &fault);
        if (got > 0) {
            check_pair(&it, &pair);
            require(pair.pos > last_pos);
            last_pos = pair.pos;
        } else {
            require(memcmp(&pair, &before, sizeof(pair)) == 0);
        }
        if (got < 0) /* what follows must be safe all the same */
            check_fault(&it, got, &fault);
    } while (got != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t scratch_size;
    char *text, *scratch;

    if (size < 2)
        return 0;
    scratch_size = (size_t)(data[0] | data[1] << 8);
    scratch = malloc(scratch_size ? scratch_size : 1);
    text = malloc(size > 2 ? size - 2 : 1);
    memcpy(text, data + 2, size - 2);
    parse(otelctx_attrs_begin((struct otelctx_span){text, size - 2}, scratch,
                              scratch_size));
    free(text);
    free(scratch);
    return 0;
}
