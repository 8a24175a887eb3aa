/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/context.h"

#include <errno.h>

#include "config/utf8.h"
#include "shim/clock.h"
#include "shim/host.h"
#include "shim/instance.h"
#include "shim/lock.h"
#include "shim/memory.h"
#include "shim/order.h"

/* A pair as the environment mostly has it fits behind the state, in a page
 * that is in use anyway. */
enum {
    SMALL_SCRATCH = 4096 - sizeof(struct otelctx_wiped)
};

uint64_t otelctx_context_key_count;

/* Is there something that a child has to publish for itself, too? */
static bool is_shown;
static bool has_yielded;

/* Which version is staged and which was published last: its number, and, from
 * PUBLISHED_SHIFT on, the other one's. One store changes them. */
enum {
    PUBLISHED_SHIFT = 8,
    VERSION_MASK = 0xff
};
static uint64_t versions;

OTELCTX_INLINE struct otelctx_publication *publication(void)
{
    return &otelctx_memory.wiped.publication;
}

int otelctx_context_enter(void)
{
    const int err = otelctx_memory_is_used() ? 0 : otelctx_memory_begin();

    if (err)
        return err;
    if (otelctx_memory_outlives_fork)
        otelctx_memory_notice_fork();
    return otelctx_lock(&otelctx_memory.wiped.lock);
}

uint64_t otelctx_context_now(void)
{
    struct otelctx_wiped *const wiped = &otelctx_memory.wiped;

    if (wiped->now_ns == 0)
        wiped->now_ns = wiped->publication.last_ns == 0
                            ? otelctx_clock_first()
                            : otelctx_clock_update();
    return wiped->now_ns;
}

void otelctx_context_leave(void)
{
    otelctx_memory.wiped.now_ns = 0;
    otelctx_unlock(&otelctx_memory.wiped.lock);
}

/* Counted from the last one: 0 is empty at first and seldom used again, and the
 * page that the first one begins in is used for more. */
static struct otelctx_payload *version(uint64_t number)
{
    return &otelctx_memory_version[2 - number];
}

static uint64_t staged(void)
{
    return versions & VERSION_MASK;
}

static uint64_t published(void)
{
    return versions >> PUBLISHED_SHIFT;
}

/* One that is neither: the third one only while these differ, because each
 * that was ever used is memory in use. */
static uint64_t edited(void)
{
    const uint64_t all = 0 + 1 + 2;

    return staged() == published() ? staged() == 2 ? 1 : 2
                                   : all - staged() - published();
}

const struct otelctx_payload *otelctx_context_staged(void)
{
    return version(staged());
}

struct otelctx_payload *otelctx_context_edit(void)
{
    struct otelctx_payload *payload = version(edited());

    otelctx_payload_copy(payload, otelctx_context_staged());
    payload->reserved = (uint32_t)otelctx_keys_size(&otelctx_memory_keys);
    return payload;
}

char *otelctx_context_scratch(size_t size)
{
    return size <= SMALL_SCRATCH
               ? otelctx_memory.scratch + sizeof(struct otelctx_wiped)
               : otelctx_memory_scratch;
}

static int set_default_name(struct otelctx_payload *payload)
{
    const struct otelctx_span prefix = OTELCTX_SPAN("unknown_service:");
    const struct otelctx_span executable = otelctx_host_executable();
    char *text = otelctx_context_scratch(prefix.size + executable.size);
    struct otelctx_span name = {text, prefix.size + executable.size};

    memcpy(text, prefix.at, prefix.size);
    memcpy(text + prefix.size, executable.at, executable.size);
    if (executable.size == 0 ||
        otelctx_utf8_valid(executable) < executable.size)
        name.size = prefix.size - 1; /* without the colon */
    return otelctx_payload_set(payload, OTELCTX_RESOURCE,
                               OTELCTX_SPAN("service.name"), name);
}

/* What is wanted, if it can be made; false when it has no room. */
static bool add_instance(struct otelctx_payload *payload)
{
    struct otelctx_span id;

    (void)otelctx_instance_make();
    id = otelctx_instance_id();
    return id.size == 0 ||
           otelctx_payload_set(payload, OTELCTX_RESOURCE,
                               OTELCTX_SPAN(OTELCTX_INSTANCE_KEY), id) == 0;
}

OTELCTX_RARE static int complete(struct otelctx_payload *payload)
{
    int err = 0;

    payload->is_complete = true;
    if (!otelctx_payload_has(payload, OTELCTX_RESOURCE,
                             OTELCTX_SPAN("service.name")))
        err = set_default_name(payload);
    if (!err && !otelctx_payload_has(payload, OTELCTX_RESOURCE,
                                     OTELCTX_SPAN(OTELCTX_INSTANCE_KEY)))
        payload->is_complete = add_instance(payload);
    return err;
}

int otelctx_context_stage(void)
{
    const uint64_t next = edited();
    struct otelctx_payload *const payload = version(next);
    const int err = payload->is_complete ? 0 : complete(payload);

    if (!err)
        otelctx_store_release(&versions, published() << PUBLISHED_SHIFT | next);
    return err;
}

static size_t size_with_keys(uint64_t number)
{
    return otelctx_payload_size(version(number)) +
           otelctx_keys_size(&otelctx_memory_keys);
}

size_t otelctx_context_size(void)
{
    return size_with_keys(staged());
}

void otelctx_context_yield(const void *taken)
{
    struct otelctx_publication *const p = publication();

    if (p->mapping.at == taken)
        otelctx_publication_forget(p);
    else
        otelctx_publication_drop(p);
    is_shown = false;
    has_yielded = true;
    otelctx_store_release(&otelctx_context_key_count, 0);
}

bool otelctx_context_has_yielded(void)
{
    return has_yielded;
}

/* Show readers one version, with the keys; to be named. */
static int commit(uint64_t number)
{
    const struct otelctx_payload *const payload = version(number);
    const size_t size = size_with_keys(number);
    struct otelctx_publication *p = publication();
    uint8_t *room;
    int err;

    /* In a child that resumes a call it may just have been hidden. */
    if (!otelctx_publication_is_ours(p) && !otelctx_memory.wiped.resumed) {
        otelctx_context_yield(p->mapping.at);
        return -ESTALE;
    }
    err = otelctx_publication_room(p, size, otelctx_memory_page_size, &room,
                                   &otelctx_memory.wiped.failed);
    if (err)
        return err;
    otelctx_keys_encode(&otelctx_memory_keys,
                        otelctx_payload_encode(payload, room));
    otelctx_publication_commit(p, room, size, otelctx_context_now());
    return 0;
}

OTELCTX_INLINE int announce(void)
{
    const int err = otelctx_publication_name(publication());

    if (err)
        otelctx_memory.wiped.failed = "prctl";
    return err;
}

OTELCTX_RARE static int show(uint64_t number)
{
    const int err = commit(number);

    return err ? err : announce();
}

/* The id that we gave this process was its parent's until now. */
static void renew_instance(void)
{
    struct otelctx_publication *const p = publication();
    char old[OTELCTX_INSTANCE_SIZE];

    otelctx_memory.wiped.has_own_id = 1;
    if (!otelctx_instance_renew(old))
        return;
    for (unsigned i = 0; i < 3; i++)
        otelctx_instance_replace(version(i)->bytes,
                                 otelctx_payload_used(version(i)), old);
    /* Nothing is there yet, but in a child that resumes a call. */
    if (p->mapping.at)
        otelctx_instance_replace(p->mapping.at, p->mapping.size, old);
    if (p->large)
        otelctx_instance_replace(p->large, (size_t)2 * OTELCTX_PAYLOAD_MAX,
                                 old);
}

int otelctx_context_publish(void)
{
    int err;

    if (has_yielded)
        return -ESTALE;
    if (otelctx_context_staged()->size[OTELCTX_RESOURCE] == 0) {
        (void)otelctx_context_edit(); /* nothing was ever staged */
        (void)otelctx_context_stage();
    }
    if (!otelctx_memory.wiped.has_own_id)
        renew_instance();
    err = commit(staged());
    if (!err)
        err = announce();
    if (err)
        return err;
    is_shown = true;
    otelctx_store_release(&versions, staged() << PUBLISHED_SHIFT | staged());
    return 0;
}

const char *otelctx_context_failed(void)
{
    return otelctx_memory.wiped.failed;
}

void otelctx_context_hide_threads(void)
{
    otelctx_keys_hide(&otelctx_memory_keys);
}

int otelctx_context_set_schema(struct otelctx_span schema)
{
    return otelctx_keys_set_schema(&otelctx_memory_keys, schema);
}

/* Is there room for the keys, in what is published and what is staged? And if
 * anything is published, it has to have them before anybody uses one. */
static int show_keys(void)
{
    if (size_with_keys(staged()) > OTELCTX_PAYLOAD_MAX ||
        size_with_keys(published()) > OTELCTX_PAYLOAD_MAX)
        return -ENOSPC;
    return is_shown ? show(published()) : 0;
}

/* Append a key and show it; or leave things as they were. */
static int add_key(struct otelctx_keys *keys, struct otelctx_span name)
{
    const uint64_t before = keys->used;
    const int index = otelctx_keys_add(keys, name);
    const int err = index < 0 ? index : show_keys();

    if (err)
        otelctx_store_release(&keys->used, before);
    return err ? err : index;
}

int otelctx_context_key(struct otelctx_span name)
{
    struct otelctx_keys *const keys = &otelctx_memory_keys;
    int index = otelctx_keys_find(keys, name);

    if (has_yielded)
        return -ESTALE;
    if (index < 0)
        index = add_key(keys, name);
    /* Also when it was there: a child may have been forked before this. */
    if (index >= 0)
        otelctx_store_release(&otelctx_context_key_count,
                              otelctx_keys_count(keys));
    return index;
}

void otelctx_context_forget_keys(void)
{
    otelctx_store_release(&otelctx_memory_keys.used, 0);
    otelctx_store_release(&otelctx_context_key_count, 0);
}

void otelctx_context_drop(void)
{
    is_shown = false;
    otelctx_publication_drop(publication());
}

bool otelctx_context_is_shown(void)
{
    return is_shown;
}

/* Its own instance id is made when somebody can see it, and not before, because
 * that takes a system call. */
static void begin(enum otelctx_child what, bool seen)
{
    if (what != OTELCTX_CHILD_PUBLISHES)
        is_shown = false; /* else not stored: the child would copy a page */
    if (what != OTELCTX_CHILD_MUST_BE_QUIET &&
        (seen || otelctx_instance_is_exported()))
        renew_instance();
}

void otelctx_context_begin_child(enum otelctx_child what)
{
    otelctx_memory.wiped.is_old = 1;
    begin(what, is_shown && what == OTELCTX_CHILD_PUBLISHES);
}

void otelctx_context_catch_up(void)
{
    if (is_shown && !publication()->mapping.at)
        (void)show(published());
}

void otelctx_context_resume_in_child(enum otelctx_child what)
{
    struct otelctx_publication *const p = publication();

    otelctx_memory.wiped.resumed = true;
    otelctx_memory.wiped.has_own_id = 0;
    begin(what, what == OTELCTX_CHILD_PUBLISHES);
    if (what == OTELCTX_CHILD_PUBLISHES)
        otelctx_publication_finish(p);
    else
        otelctx_publication_hide(p);
}

void otelctx_context_end_resumed(void)
{
    if (!is_shown)
        otelctx_publication_drop(publication());
    else if (publication()->mapping.at)
        (void)show(published());
    otelctx_memory.wiped.resumed = false;
}
