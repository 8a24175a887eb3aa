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

/* Wiped by fork: all zero in a child. */
struct state {
    uint64_t lock;
    uint64_t alive; /* this process has entered before */
    uint64_t pid;   /* where the kernel cannot wipe; else 0 */
    struct otelctx_publication publication;
};

/* Outlives fork. One version is published, one staged, one free to write. */
enum {
    VERSIONS = 3
};
struct memory {
    struct otelctx_payload version[VERSIONS];
    char scratch[OTELCTX_PAYLOAD_MAX];
};

/* The address of the state's page, the memory right behind it; 0: not made. */
static uint64_t base;
static size_t page_size;
static bool wiped_by_fork;

/* Which version is which; each is changed by a single store. */
static uint64_t staged, published, editing;

static struct state *state(void)
{
    return (struct state *)(uintptr_t)base;
}

static struct memory *memory(void)
{
    return (struct memory *)((uintptr_t)base + page_size);
}

/* Where the kernel does not wipe (before Linux 4.14), the pid has to tell. */
static uint64_t pid_if_needed(void)
{
    return wiped_by_fork ? 0 : (uint64_t)otelctx_sys_pid();
}

static int make_memory(void)
{
    const size_t page = otelctx_host_auxiliary(AT_PAGESZ);
    const size_t size = page + sizeof(struct memory);
    uint64_t none = 0;
    void *at;
    int err;

    if (page == 0)
        return -ENOSYS;
    err = otelctx_sys_map(size, -1, &at);
    if (err)
        return err;
    page_size = page;
    wiped_by_fork = otelctx_sys_wipe_on_fork(at, page) == 0;
    ((struct state *)at)->pid = pid_if_needed();
    if (!otelctx_swap_if(&base, &none, (uintptr_t)at))
        otelctx_sys_unmap(at, size); /* another thread was first */
    return 0;
}

static void notice_fork(void)
{
    const uint64_t pid = pid_if_needed();

    if (state()->pid != pid) {
        memset(state(), 0, sizeof(struct state));
        state()->pid = pid;
    }
}

static int come_alive(void)
{
    struct otelctx_payload *payload;
    int err = 0;

    if (!otelctx_payload_has(otelctx_context_staged(), OTELCTX_RESOURCE,
                             OTELCTX_SPAN("service.name"))) {
        payload = otelctx_context_edit();
        err = otelctx_context_default_name(payload);
        otelctx_context_stage();
    }
    state()->alive = 1;
    return err;
}

int otelctx_context_enter(void)
{
    int err = otelctx_load_acquire(&base) ? 0 : make_memory();

    if (err)
        return err;
    notice_fork();
    err = otelctx_lock(&state()->lock);
    if (!err && !state()->alive) {
        err = come_alive();
        if (err)
            otelctx_context_leave();
    }
    return err;
}

void otelctx_context_leave(void)
{
    otelctx_unlock(&state()->lock);
}

struct otelctx_payload *otelctx_context_edit(void)
{
    editing = 0;
    while (editing == staged || editing == published)
        editing++;
    otelctx_payload_copy(&memory()->version[editing], otelctx_context_staged());
    return &memory()->version[editing];
}

void otelctx_context_stage(void)
{
    otelctx_store_release(&staged, editing);
}

char *otelctx_context_scratch(void)
{
    return memory()->scratch;
}

int otelctx_context_default_name(struct otelctx_payload *payload)
{
    const struct otelctx_span prefix = OTELCTX_SPAN("unknown_service:");
    const struct otelctx_span executable = otelctx_host_executable();
    char *text = otelctx_context_scratch();
    struct otelctx_span name = {text, prefix.size + executable.size};

    memcpy(text, prefix.at, prefix.size);
    memcpy(text + prefix.size, executable.at, executable.size);
    if (executable.size == 0 ||
        otelctx_utf8_valid(executable) < executable.size)
        name.size = prefix.size - 1; /* without the colon */
    return otelctx_payload_set(payload, OTELCTX_RESOURCE,
                               OTELCTX_SPAN("service.name"), name);
}

int otelctx_context_publish(const char **failed)
{
    struct otelctx_publication *p = &state()->publication;
    const struct otelctx_payload *payload = otelctx_context_staged();
    const size_t size = otelctx_payload_size(payload);
    uint8_t *room;
    int err;

    err = otelctx_publication_room(p, size, page_size, &room, failed);
    if (err)
        return err;
    otelctx_payload_encode(payload, room);
    err = otelctx_publication_commit(p, room, size,
                                     p->last_ns == 0 ? otelctx_clock_first()
                                                     : otelctx_clock_update());
    if (err)
        *failed = "prctl";
    else
        otelctx_store_release(&published, staged);
    return err;
}

void otelctx_context_drop(void)
{
    otelctx_publication_drop(&state()->publication);
}

const struct otelctx_payload *otelctx_context_staged(void)
{
    return &memory()->version[staged];
}
