/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/entity_ref.c" /* with a scratch of its own */
#include "tests/fuzz/fuzz.h"

/*
 * Any text of OTEL_ENTITIES, of its very size: ASan sees a step too far. What
 * an EntityRef names is an attribute.
 */
char *otelctx_state_scratch(size_t size)
{
    static char scratch[OTELCTX_PAYLOAD_MAX];

    return size <= sizeof(scratch) ? scratch : NULL;
}

static void check_keys(struct otelctx_payload *payload)
{
    struct otelctx_span rest = otelctx_payload_refs(payload);

    while (rest.size > 0) {
        struct otelctx_span ref = otelctx_protobuf_take(&rest);
        unsigned ids = 0;

        while (ref.size > 0) {
            const unsigned number = (uint8_t)ref.at[0] >> 3;
            const struct otelctx_span body = otelctx_protobuf_take(&ref);

            require(number >= 1 && number <= 4);
            if (number <= 2)
                continue;
            require(otelctx_payload_has(payload, OTELCTX_RESOURCE, body));
            require(otelctx_payload_set(payload, OTELCTX_RESOURCE, body,
                                        (struct otelctx_span){0}) == -EPERM);
            ids += number == 3;
        }
        require(ids > 0);
    }
}

static void add_all(struct otelctx_payload *payload, struct otelctx_span rest)
{
    static struct otelctx_payload before;
    const size_t size = rest.size;
    struct otelctx_entity entity;
    struct otelctx_fault fault;
    int got;

    while ((got = otelctx_entities_take(&rest, &entity, &fault)) != 0) {
        if (got > 0) {
            otelctx_payload_copy(&before, payload);
            got = otelctx_entity_ref_add(payload, &entity, rest.at, &fault);
            if (got < 0)
                otelctx_payload_copy(payload, &before);
        }
        if (got != 0)
            require(fault.pos >= 1 && fault.pos <= size + 1);
        require(otelctx_payload_size(payload) <= OTELCTX_PAYLOAD_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct otelctx_payload payload;
    char *const text = malloc(size ? size : 1);

    memcpy(text, data, size);
    memset(&payload, 0, sizeof(payload));
    add_all(&payload, (struct otelctx_span){text, size});
    check_keys(&payload);
    free(text);
    return 0;
}
