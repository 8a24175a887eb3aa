/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/context.h"

#include <elf.h>
#include <errno.h>

#include "config/utf8.h"
#include "shim/clock.h"
#include "shim/host.h"
#include "shim/lock.h"
#include "shim/order.h"
#include "shim/publish.h"
#include "shim/sys.h"

enum {
    LARGEST_PAGE = 65536
};

/* All zero in a child. */
struct wiped {
    uint64_t lock;
    uint64_t pid; /* where the kernel cannot wipe; else 0 */
    struct otelctx_publication publication;
};

struct memory {
    union {
        struct wiped wiped; /* by fork, up to the end of this union */
        char scratch[LARGEST_PAGE];
    };
    struct otelctx_payload version[3];
    struct otelctx_keys keys;
    char large_scratch[OTELCTX_PAYLOAD_MAX];
};

/* A pair as the environment mostly has it fits behind the state, in a page
 * that is in use anyway. */
enum {
    SMALL_SCRATCH = 4096 - sizeof(struct wiped)
};

/* The address of the memory, with a flag; 0: not made yet. */
enum {
    NOT_WIPED = 1
};
static uint64_t base;
static uint64_t page_size;
static uint64_t key_count; /* that readers can know of */

/* Which version is staged and which was published last: its number, and, from
 * PUBLISHED_SHIFT on, the other one's. One store changes them. */
enum {
    PUBLISHED_SHIFT = 8,
    VERSION_MASK = 0xff
};
static uint64_t versions;

static struct memory *memory(void)
{
    return (struct memory *)(uintptr_t)(base & ~(uint64_t)NOT_WIPED);
}

/* Where the kernel does not wipe (before Linux 4.14), the pid has to tell. */
static uint64_t pid_if_needed(uint64_t from)
{
    return from & NOT_WIPED ? (uint64_t)otelctx_sys_pid() : 0;
}

static int make_memory(void)
{
    const unsigned long page = otelctx_host_auxiliary(AT_PAGESZ);
    uint64_t none = 0, made;
    void *at;
    int err;

    if (page == 0 || page > LARGEST_PAGE)
        return -ENOSYS;
    err = otelctx_sys_map(sizeof(struct memory), -1, &at);
    if (err)
        return err;
    made = (uintptr_t)at;
    if (otelctx_sys_wipe_on_fork(at, LARGEST_PAGE))
        made |= NOT_WIPED;
    ((struct memory *)at)->wiped.pid = pid_if_needed(made);
    otelctx_store(&page_size, page);
    if (!otelctx_swap_if(&base, &none, made))
        otelctx_sys_unmap(at, sizeof(struct memory)); /* a thread was first */
    return 0;
}

static void notice_fork(void)
{
    const uint64_t pid = pid_if_needed(base);
    struct wiped *w = &memory()->wiped;

    if (w->pid != pid) {
        memset(w, 0, sizeof(*w));
        w->pid = pid;
    }
}

int otelctx_context_enter(void)
{
    const int err = otelctx_load_acquire(&base) ? 0 : make_memory();

    if (err)
        return err;
    notice_fork();
    return otelctx_lock(&memory()->wiped.lock);
}

void otelctx_context_leave(void)
{
    otelctx_unlock(&memory()->wiped.lock);
}

static uint64_t staged(void)
{
    return versions & VERSION_MASK;
}

static uint64_t published(void)
{
    return versions >> PUBLISHED_SHIFT;
}

/* One that is neither. */
static uint64_t edited(void)
{
    uint64_t number = 0;

    while (number == staged() || number == published())
        number++;
    return number;
}

const struct otelctx_payload *otelctx_context_staged(void)
{
    return &memory()->version[staged()];
}

struct otelctx_payload *otelctx_context_edit(void)
{
    struct otelctx_payload *payload = &memory()->version[edited()];

    otelctx_payload_copy(payload, otelctx_context_staged());
    payload->reserved = (uint32_t)otelctx_keys_size(&memory()->keys);
    return payload;
}

char *otelctx_context_scratch(size_t size)
{
    return size <= SMALL_SCRATCH ? memory()->scratch + sizeof(struct wiped)
                                 : memory()->large_scratch;
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

int otelctx_context_stage(void)
{
    struct otelctx_payload *const payload = &memory()->version[edited()];
    int err = 0;

    if (!otelctx_payload_has(payload, OTELCTX_RESOURCE,
                             OTELCTX_SPAN("service.name")))
        err = set_default_name(payload);
    if (!err)
        otelctx_store_release(&versions,
                              published() << PUBLISHED_SHIFT | edited());
    return err;
}

static size_t size_with_keys(uint64_t version)
{
    return otelctx_payload_size(&memory()->version[version]) +
           otelctx_keys_size(&memory()->keys);
}

size_t otelctx_context_size(void)
{
    return size_with_keys(staged());
}

/* Show readers one version, with the keys. */
static int show(uint64_t version, const char **failed)
{
    const struct otelctx_payload *const payload = &memory()->version[version];
    const size_t size = size_with_keys(version);
    struct otelctx_publication *p = &memory()->wiped.publication;
    uint8_t *room;
    int err = otelctx_publication_room(p, size, page_size, &room, failed);

    if (err)
        return err;
    otelctx_payload_encode(payload, room);
    otelctx_keys_encode(&memory()->keys, room + otelctx_payload_size(payload));
    err = otelctx_publication_commit(p, room, size,
                                     p->last_ns == 0 ? otelctx_clock_first()
                                                     : otelctx_clock_update());
    if (err)
        *failed = "prctl";
    return err;
}

int otelctx_context_publish(const char **failed)
{
    int err;

    if (otelctx_context_staged()->size[OTELCTX_RESOURCE] == 0) {
        (void)otelctx_context_edit(); /* nothing was ever staged */
        (void)otelctx_context_stage();
    }
    err = show(staged(), failed);
    if (!err)
        otelctx_store_release(&versions,
                              staged() << PUBLISHED_SHIFT | staged());
    return err;
}

int otelctx_context_set_schema(struct otelctx_span schema)
{
    return otelctx_keys_set_schema(&memory()->keys, schema);
}

/* Is there room for the keys, in what is published and what is staged? And if
 * anything is published, it has to have them before anybody uses one. */
static int show_keys(const char **failed)
{
    if (size_with_keys(staged()) > OTELCTX_PAYLOAD_MAX ||
        size_with_keys(published()) > OTELCTX_PAYLOAD_MAX)
        return -ENOSPC;
    return memory()->wiped.publication.mapping.at ? show(published(), failed)
                                                  : 0;
}

/* Append a key and show it; or leave things as they were. */
static int add_key(struct otelctx_keys *keys, struct otelctx_span name,
                   const char **failed)
{
    const uint64_t before = keys->used;
    const int index = otelctx_keys_add(keys, name);
    const int err = index < 0 ? index : show_keys(failed);

    if (err)
        otelctx_store_release(&keys->used, before);
    return err ? err : index;
}

int otelctx_context_key(struct otelctx_span name, const char **failed)
{
    struct otelctx_keys *const keys = &memory()->keys;
    int index = otelctx_keys_find(keys, name);

    if (index < 0)
        index = add_key(keys, name, failed);
    /* Also when it was there: a child may have been forked before this. */
    if (index >= 0)
        otelctx_store_release(&key_count, otelctx_keys_count(keys));
    return index;
}

void otelctx_context_forget_keys(void)
{
    otelctx_store_release(&memory()->keys.used, 0);
    otelctx_store_release(&key_count, 0);
}

bool otelctx_context_has_key(uint8_t index)
{
    return index < otelctx_load_acquire(&key_count);
}

void otelctx_context_drop(void)
{
    otelctx_publication_drop(&memory()->wiped.publication);
}
