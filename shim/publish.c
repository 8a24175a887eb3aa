/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/publish.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "shim/order.h"

static struct otelctx_header *header_of(const struct otelctx_publication *p)
{
    return (struct otelctx_header *)(void *)p->mapping.at;
}

/* The two areas share what the header leaves of the page, aligned to 8. */
static size_t area_size(size_t page_size)
{
    return (page_size - sizeof(struct otelctx_header)) / 2 & ~(size_t)7;
}

int otelctx_publication_room(struct otelctx_publication *p, size_t size,
                             size_t page_size, uint8_t **room,
                             const char **failed)
{
    const size_t area = area_size(page_size);
    int err = 0;

    if (size > area && !p->large)
        err = otelctx_mapping_reserve((size_t)2 * OTELCTX_PAYLOAD_MAX,
                                      &p->large, failed);
    if (!err && !p->mapping.at)
        err = otelctx_mapping_open(page_size, &p->mapping, failed);
    if (err)
        return err;

    *room = size > area ? p->large + p->turn * (size_t)OTELCTX_PAYLOAD_MAX
                        : p->mapping.at + sizeof(struct otelctx_header) +
                              p->turn * area;
    return 0;
}

/* OTEP 4719, "Publication Protocol", steps 7 to 9, and with the signature
 * before the timestamp also as readers of the draft expect it. */
static void header_write(struct otelctx_header *h, const uint8_t *payload,
                         uint32_t size, uint64_t now_ns)
{
    h->version = OTELCTX_HEADER_VERSION;
    h->payload_size = size;
    otelctx_store(&h->payload, (uintptr_t)payload);
    otelctx_fence();
    memcpy(h->signature, OTELCTX_SIGNATURE, OTELCTX_SIGNATURE_SIZE);
    otelctx_fence();
    otelctx_store(&h->published_at_ns, now_ns);
}

/* OTEP 4719, "Updating Protocol", steps 2 to 6: stores only, because some
 * readers give up when the timestamp stays zero for long. */
static void header_update(struct otelctx_header *h, const uint8_t *payload,
                          uint32_t size, uint64_t now_ns)
{
    otelctx_store(&h->published_at_ns, 0);
    otelctx_fence();
    otelctx_store(&h->payload, (uintptr_t)payload);
    h->payload_size = size;
    otelctx_fence();
    otelctx_store(&h->published_at_ns, now_ns);
}

int otelctx_publication_commit(struct otelctx_publication *p,
                               const uint8_t *room, size_t size,
                               uint64_t now_ns)
{
    struct otelctx_header *h = header_of(p);
    int err;

    p->last_ns = now_ns > p->last_ns ? now_ns : p->last_ns + 1;
    p->turn ^= 1;
    if (h->published_at_ns == 0)
        header_write(h, room, (uint32_t)size, p->last_ns);
    else
        header_update(h, room, (uint32_t)size, p->last_ns);

    err = otelctx_mapping_name(&p->mapping);
    if (err)
        otelctx_publication_drop(p);
    return err;
}

void otelctx_publication_drop(struct otelctx_publication *p)
{
    struct otelctx_header *h = header_of(p);

    if (!h)
        return;
    otelctx_store(&h->published_at_ns, 0);
    otelctx_fence();
    memset(h->signature, 0, sizeof(h->signature));
    otelctx_mapping_close(&p->mapping);
}
