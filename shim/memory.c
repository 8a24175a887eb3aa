/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/memory.h"

#include <elf.h>
#include <errno.h>

#include "shim/host.h"
#include "shim/order.h"
#include "shim/sys.h"

uint64_t otelctx_memory_address;
bool otelctx_memory_is_wiped = true;
static uint64_t page_size;

size_t otelctx_memory_page_size(void)
{
    return page_size;
}

/* Where the kernel does not wipe, the pid has to tell. */
static uint64_t pid_if_needed(bool is_wiped)
{
    return is_wiped ? 0 : (uint64_t)otelctx_sys_pid();
}

int otelctx_memory_make(void)
{
    const unsigned long page = otelctx_host_auxiliary(AT_PAGESZ);
    struct otelctx_memory *memory;
    uint64_t none = 0;
    bool is_wiped;
    void *at;
    int err;

    if (page == 0 || page > OTELCTX_WIPED_SIZE)
        return -ENOSYS;
    err = otelctx_sys_map(sizeof(*memory), -1, &at);
    if (err)
        return err;
    is_wiped = otelctx_sys_wipe_on_fork(at, OTELCTX_WIPED_SIZE) == 0;
    memory = at;
    memory->wiped.pid = pid_if_needed(is_wiped);
    memory->wiped.is_old = 1;
    memory->wiped.has_own_id = 1;
    otelctx_store(&page_size, page);
    if (!is_wiped) /* before anybody can see the memory */
        otelctx_memory_is_wiped = false;
    if (!otelctx_swap_if(&otelctx_memory_address, &none, (uintptr_t)at))
        (void)otelctx_sys_unmap(at, sizeof(*memory)); /* a thread was first */
    return 0;
}

void otelctx_memory_adopt(void)
{
    otelctx_memory()->wiped.pid = pid_if_needed(otelctx_memory_is_wiped);
}

void otelctx_memory_wipe(void)
{
    memset(&otelctx_memory()->wiped, 0, sizeof(struct otelctx_wiped));
    otelctx_memory_adopt();
}

void otelctx_memory_notice_fork(void)
{
    if (otelctx_memory()->wiped.pid != pid_if_needed(otelctx_memory_is_wiped))
        otelctx_memory_wipe();
}

void otelctx_memory_pass(bool to_child)
{
    struct otelctx_memory *const memory = otelctx_memory();

    if (to_child)
        (void)otelctx_sys_keep_on_fork(memory, OTELCTX_WIPED_SIZE);
    else if (otelctx_memory_is_wiped)
        (void)otelctx_sys_wipe_on_fork(memory, OTELCTX_WIPED_SIZE);
    otelctx_publication_pass(&memory->wiped.publication, to_child);
}
