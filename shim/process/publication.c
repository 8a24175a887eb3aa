/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/publication.h"

#include <stdbool.h>
#include <string.h>

#include "shim/base/order.h"
#include "shim/base/sys.h"

static struct otelctx_header *header_of(const struct otelctx_publication *p)
{
    return (struct otelctx_header *)(void *)p->mapping.at;
}

/* The two areas share what the header leaves of the page, aligned to 8. */
static size_t area_size(size_t page_size)
{
    return (page_size - sizeof(struct otelctx_header)) / 2 & ~(size_t)7;
}

/* memcmp(3) without a loop, because each update calls this. */
OTELCTX_INLINE bool is_same(const struct otelctx_header *a,
                            const struct otelctx_header *b)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const word *const x = (const word *)a, *const y = (const word *)b;

    static_assert(sizeof(*a) == 4 * sizeof(word), "");
    return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3])) == 0;
}

bool otelctx_publication_is_ours(const struct otelctx_publication *p)
{
    return !p->mapping.at || p->written.published_at_ns == 0 ||
           is_same(header_of(p), &p->written);
}

static bool is_readable(uint64_t at)
{
    return otelctx_sys_readable((const void *)(uintptr_t)(at & ~(uint64_t)7));
}

bool otelctx_publication_is_taken(const void *at, bool is_known)
{
    const struct otelctx_header *const h = at;
    uint32_t signature[2];

    memcpy(signature, OTELCTX_SIGNATURE, sizeof(signature));
    return h && (uintptr_t)h % sizeof(uint64_t) == 0 &&
           otelctx_sys_holds(&h->signature[0], signature[0]) &&
           otelctx_sys_holds(&h->signature[4], signature[1]) &&
           otelctx_sys_holds(&h->version, OTELCTX_HEADER_VERSION) &&
           (is_known ||
            (is_readable((uintptr_t)(h + 1) - 1) && h->published_at_ns != 0 &&
             h->payload_size > 0 && h->payload_size <= OTELCTX_PAYLOAD_MAX &&
             is_readable(h->payload) &&
             is_readable(h->payload + h->payload_size - 1)));
}

int otelctx_publication_room(struct otelctx_publication *p, size_t size,
                             size_t page_size, uint8_t **room,
                             struct otelctx_failure *failure)
{
    const size_t area = area_size(page_size);
    int err = 0;

    if (size > area && !p->large)
        err = otelctx_mapping_reserve((size_t)2 * OTELCTX_PAYLOAD_MAX,
                                      &p->large, failure);
    if (!err && !p->mapping.at)
        err = otelctx_mapping_open(OTELCTX_MAPPING_NAME, page_size, &p->mapping,
                                   failure);
    if (err)
        return err;

    *room = size > area ? p->large + p->turn * (size_t)OTELCTX_PAYLOAD_MAX
                        : p->mapping.at + sizeof(struct otelctx_header) +
                              p->turn * area;
    return 0;
}

/* OTEP 4719, "Publication Protocol", steps 7 to 9. Readers of the draft also
 * need the signature to be written before the timestamp. */
static void header_write(struct otelctx_header *h,
                         const struct otelctx_header *new)
{
    h->version = new->version;
    h->payload_size = new->payload_size;
    otelctx_store(&h->payload, new->payload);
    otelctx_fence();
    memcpy(h->signature, new->signature, sizeof(h->signature));
    otelctx_fence();
    otelctx_store(&h->published_at_ns, new->published_at_ns);
}

/* OTEP 4719, "Updating Protocol", steps 2 to 6: stores only, because some
 * readers give up when the timestamp stays zero for long. */
static void header_update(struct otelctx_header *h,
                          const struct otelctx_header *new)
{
    otelctx_store(&h->published_at_ns, 0);
    otelctx_fence();
    otelctx_store(&h->payload, new->payload);
    h->payload_size = new->payload_size;
    otelctx_fence();
    otelctx_store(&h->published_at_ns, new->published_at_ns);
}

void otelctx_publication_commit(struct otelctx_publication *p,
                                const uint8_t *room, size_t size,
                                uint64_t now_ns)
{
    struct otelctx_header *h = header_of(p);
    /* otelctx_publication_hide() clears the signature. */
    const bool is_new = h->published_at_ns == 0 || h->signature[0] == '\0';

    p->last_ns = now_ns > p->last_ns ? now_ns : p->last_ns + 1;
    p->turn ^= 1;
    p->written = (struct otelctx_header){
        .signature = OTELCTX_SIGNATURE,
        .version = OTELCTX_HEADER_VERSION,
        .payload_size = (uint32_t)size,
        .published_at_ns = p->last_ns,
        .payload = (uintptr_t)room,
    };
    otelctx_signal_fence();
    if (is_new)
        header_write(h, &p->written);
    else
        header_update(h, &p->written);
}

void otelctx_publication_drop(struct otelctx_publication *p)
{
    struct otelctx_header *h = header_of(p);

    if (!h)
        return;
    /* A publisher that took the mapping over may have unmapped it. */
    if (!otelctx_sys_readable(h) || !otelctx_publication_is_ours(p)) {
        otelctx_publication_forget(p);
        return;
    }
    otelctx_store(&h->published_at_ns, 0);
    otelctx_fence();
    memset(h->signature, 0, sizeof(h->signature));
    p->written.published_at_ns = 0;
    /* Readers that hook prctl read at this call, and find no context. */
    (void)otelctx_publication_name_mapping(p);
    otelctx_mapping_close(&p->mapping);
}

void otelctx_publication_forget(struct otelctx_publication *p)
{
    p->written.published_at_ns = 0;
    p->mapping = (struct otelctx_mapping){0};
}

static void set_range_inherited(void *at, size_t size, bool to_child)
{
    if (at && to_child)
        (void)otelctx_sys_do_fork(at, size);
    else if (at)
        (void)otelctx_sys_dont_fork(at, size);
}

void otelctx_publication_set_inherited(const struct otelctx_publication *p,
                                       bool to_child)
{
    set_range_inherited(p->mapping.at, p->mapping.size, to_child);
    set_range_inherited(p->large, (size_t)2 * OTELCTX_PAYLOAD_MAX, to_child);
}

void otelctx_publication_finish(struct otelctx_publication *p)
{
    struct otelctx_header *h = header_of(p);

    if (h && h->published_at_ns == 0 && p->written.published_at_ns != 0)
        header_write(h, &p->written);
    if (h)
        (void)otelctx_publication_name_mapping(p);
}

void otelctx_publication_hide(struct otelctx_publication *p)
{
    struct otelctx_header *h = header_of(p);

    memset(p->written.signature, 0, sizeof(p->written.signature));
    if (h)
        memset(h->signature, 0, sizeof(h->signature));
}
