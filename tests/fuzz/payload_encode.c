/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/payload.h"

#include "shim/process/reader_limits.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/payload_model.h"

/*
 * Any series of changes: what the payload encodes to, the reader decodes to
 * what went in. A change is a byte that says what and where, then, for a key,
 * its size and its bytes, then, for a value, its size in two bytes and the
 * bytes.
 */
enum {
    CLEAR = 0, /* of 16 */
    UNSET = 3, /* and what is below */
};

/* The input's own bytes or, so that payloads fill up, as many "x". */
static struct otelctx_span take_value(struct otelctx_span *data)
{
    static char many[OTELCTX_PAYLOAD_MAX];
    const size_t low = take_byte(data), size = low | take_byte(data) << 8;

    if (size <= 512)
        return take_bytes(data, size);
    if (many[0] == '\0')
        memset(many, 'x', sizeof(many));
    return (struct otelctx_span){many, size};
}

static void change(struct otelctx_payload *payload, struct model *m,
                   struct otelctx_span *data)
{
    const size_t what = take_byte(data);
    const enum otelctx_place place =
        what & 0x80 ? OTELCTX_EXTRA : OTELCTX_RESOURCE;
    struct otelctx_span key;

    if (what % 16 == CLEAR) {
        model_clear(payload, m, place);
        return;
    }
    key = take_bytes(data, take_byte(data));
    if (what % 16 <= UNSET) {
        otelctx_payload_set(payload, place, key, (struct otelctx_span){0});
        model_unset(&m->places[place], key);
    } else {
        const struct otelctx_span value = take_value(data);

        require(otelctx_payload_set(payload, place, key, value) ==
                model_set(m, place, key, value));
    }
    require(otelctx_payload_has(payload, place, key) ==
            (model_find(&m->places[place], key) < m->places[place].count));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model model;
    struct otelctx_payload *payload = malloc(sizeof(*payload));
    struct otelctx_payload *copy = malloc(sizeof(*copy));
    struct otelctx_span rest = {(const char *)data, size};

    memset(payload, 0, offsetof(struct otelctx_payload, bytes));
    model.places[0].count = model.places[1].count = 0;
    while (rest.size > 0)
        change(payload, &model, &rest);
    require(model_is_encoded(&model, payload));
    otelctx_payload_copy(copy, payload);
    require(memcmp(copy, payload,
                   offsetof(struct otelctx_payload, bytes) + payload->size[0] +
                       payload->size[1]) == 0);
    (void)otelctx_reader_limits_exceeded(payload);
    free(copy);
    free(payload);
    return 0;
}
