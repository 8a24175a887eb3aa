/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/context.h"

#include <errno.h>

#include "shim/base/log.h"
#include "shim/base/order.h"
#include "shim/base/sys.h"
#include "shim/process/identity.h"
#include "shim/process/reader_limits.h"
#include "shim/process/state.h"
#include "shim/process/versions.h"

uint64_t otelctx_context_key_count;

/* Does this process publish a context, unless there is a rival? A forked child
 * inherits this. */
static bool is_shown;

/* The other publisher's context, to which this process has yielded; or NULL. */
static const void *rival;

int otelctx_context_stage(void)
{
    struct otelctx_payload *const payload = otelctx_versions_edited();
    const int err =
        payload->is_complete ? 0 : otelctx_identity_complete(payload);

    if (!err)
        otelctx_versions_stage();
    return err;
}

static size_t size_with_keys(const struct otelctx_payload *payload)
{
    return otelctx_payload_size(payload) +
           otelctx_key_map_size(&otelctx_state_key_map);
}

size_t otelctx_context_size(void)
{
    return size_with_keys(otelctx_versions_staged());
}

void otelctx_context_yield(const void *to)
{
    struct otelctx_publication *const p = otelctx_state_publication();

    if (p->mapping.at == to)
        otelctx_publication_forget(p);
    else
        otelctx_publication_drop(p);
    rival = to;
    otelctx_store_release(&otelctx_context_key_count, 0);
}

const void *otelctx_context_rival(void)
{
    return rival;
}

bool otelctx_context_has_yielded(void)
{
    return rival;
}

void otelctx_context_return(void)
{
    rival = NULL;
    otelctx_store_release(&otelctx_context_key_count,
                          otelctx_key_map_count(&otelctx_state_key_map));
    otelctx_context_catch_up();
}

/* Has a publisher that bypasses libc taken the mapping over and unmapped it?
 * Asking takes a system call, so an update within a millisecond of the last one
 * does not ask. */
static bool is_gone(const struct otelctx_publication *p)
{
    const uint64_t recent_ns = 1000000;

    return p->mapping.at && otelctx_state_now() - p->last_ns > recent_ns &&
           !otelctx_sys_readable(p->mapping.at);
}

/* Show readers one version, with the keys. The caller names the mapping next.
 */
static int commit(const struct otelctx_payload *payload)
{
    const size_t size = size_with_keys(payload);
    struct otelctx_publication *const p = otelctx_state_publication();
    uint8_t *room;
    int err;

    if (is_gone(p))
        otelctx_publication_forget(p);
    /* In a child that continues its parent's call,
     * otelctx_publication_hide() may just have changed the header. */
    if (!otelctx_publication_is_ours(p) && !otelctx_state_is_resumed()) {
        otelctx_context_yield(p->mapping.at);
        return -ESTALE;
    }
    err = otelctx_publication_room(p, size, otelctx_state_page_size, &room,
                                   otelctx_state_failure());
    if (err)
        return err;
    otelctx_key_map_encode(&otelctx_state_key_map,
                           otelctx_payload_encode(payload, room));
    otelctx_publication_commit(p, room, size, otelctx_state_now());
    return 0;
}

OTELCTX_INLINE int announce(void)
{
    return otelctx_publication_name(otelctx_state_publication(),
                                    otelctx_state_failure());
}

OTELCTX_RARE static int show_published(void)
{
    const int err = commit(otelctx_versions_published());

    return err ? err : announce();
}

int otelctx_context_publish(void)
{
    int err;

    if (otelctx_versions_staged()->size[OTELCTX_RESOURCE] == 0) {
        (void)otelctx_versions_edit(); /* nothing has been staged yet */
        (void)otelctx_context_stage();
    }
    if (!otelctx_state_has_own_id())
        otelctx_identity_renew();
    err = rival ? -ESTALE : commit(otelctx_versions_staged());
    if (!err)
        err = announce();
    if (err && err != -ESTALE)
        return err;
    is_shown = true; /* with a rival: once that one is gone */
    otelctx_versions_publish();
    return err;
}

void otelctx_context_hide_threads(void)
{
    otelctx_key_map_hide(&otelctx_state_key_map);
}

int otelctx_context_set_schema(struct otelctx_span schema)
{
    return otelctx_key_map_set_schema(&otelctx_state_key_map, schema);
}

/* Publish the keys, before the program uses one; if nothing is published, check
 * only that both versions have room for them. */
static int show_keys(void)
{
    if (size_with_keys(otelctx_versions_staged()) > OTELCTX_PAYLOAD_MAX ||
        size_with_keys(otelctx_versions_published()) > OTELCTX_PAYLOAD_MAX)
        return -ENOSPC;
    return is_shown ? show_published() : 0;
}

/* Append a key and publish it. On failure nothing changes. */
static int add_key(struct otelctx_key_map *keys, struct otelctx_span name)
{
    const char *const limit_before = otelctx_reader_limits_of_keys(keys),
                      *limit;
    const uint64_t before = keys->used;
    const int index = otelctx_key_map_add(keys, name);
    const int err = index < 0 ? index : show_keys();

    if (err) {
        otelctx_store_release(&keys->used, before);
        return err;
    }
    limit = otelctx_reader_limits_of_keys(keys);
    if (limit != limit_before)
        otelctx_log(OTELCTX_LOG_INFO, "some readers will not take the keys: %s",
                    limit);
    return index;
}

int otelctx_context_key(struct otelctx_span name)
{
    struct otelctx_key_map *const keys = &otelctx_state_key_map;
    int index = otelctx_key_map_find(keys, name);

    if (rival)
        return -ESTALE;
    if (index < 0)
        index = add_key(keys, name);
    /* Also for a known key: a fork may have come between add_key() and this. */
    if (index >= 0)
        otelctx_store_release(&otelctx_context_key_count,
                              otelctx_key_map_count(keys));
    return index;
}

void otelctx_context_forget_keys(void)
{
    otelctx_store_release(&otelctx_state_key_map.used, 0);
    otelctx_store_release(&otelctx_context_key_count, 0);
}

void otelctx_context_drop(void)
{
    is_shown = false;
    otelctx_publication_drop(otelctx_state_publication());
}

void otelctx_context_renew_mapping(void)
{
    otelctx_publication_drop(otelctx_state_publication());
    otelctx_context_catch_up();
}

bool otelctx_context_is_shown(void)
{
    return is_shown;
}

void otelctx_context_hide(void)
{
    is_shown = false;
}

void otelctx_context_catch_up(void)
{
    if (is_shown && !rival && !otelctx_state_publication()->mapping.at)
        (void)show_published();
}

void otelctx_context_update(void)
{
    if (otelctx_state_publication()->mapping.at)
        (void)show_published();
}
