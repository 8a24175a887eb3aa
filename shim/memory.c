/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/memory.h"

#include <elf.h>

#include "shim/host.h"
#include "shim/lock.h"
#include "shim/order.h"
#include "shim/sys.h"

/* The linker puts first what has the largest alignment. So the page that is
 * wiped is at one end; and, as the compiler makes one section of the whole
 * library's small variables, these share a page with the end of the keys and
 * the beginning of the first version. */
#define PLACE(section_name, alignment)                                         \
    __attribute__((section(section_name), aligned(alignment)))

union otelctx_memory otelctx_memory PLACE(".bss.memory", OTELCTX_WIPED_SIZE);
struct otelctx_keys otelctx_memory_keys PLACE(".bss.keys", 128);
struct otelctx_payload otelctx_memory_version[3] PLACE(".bss.version", 8);
char otelctx_memory_scratch[OTELCTX_PAYLOAD_MAX] PLACE(".bss.scratch", 1);

uint64_t otelctx_memory_page_size;
bool otelctx_memory_outlives_fork;

/* Several threads may come here at once, so there is a lock before the lock. */
static uint64_t beginning;

static void begin(void)
{
    otelctx_memory_outlives_fork =
        otelctx_sys_wipe_on_fork(&otelctx_memory, OTELCTX_WIPED_SIZE) != 0;
    otelctx_memory_adopt();
    otelctx_memory.wiped.is_old = 1;
    otelctx_memory.wiped.has_own_id = 1;
    otelctx_store_release(&otelctx_memory_page_size,
                          otelctx_host_auxiliary(AT_PAGESZ));
}

int otelctx_memory_begin(void)
{
    const int err = otelctx_lock(&beginning);

    if (err)
        return err;
    if (!otelctx_memory_is_used())
        begin();
    otelctx_unlock(&beginning);
    return 0;
}

void otelctx_memory_begin_child(void)
{
    if (beginning != 0 && !otelctx_lock_is_mine(&beginning))
        otelctx_store(&beginning, 0);
}

/* Where the kernel does not wipe, the pid has to tell. */
static uint64_t pid_if_needed(void)
{
    return otelctx_memory_outlives_fork ? (uint64_t)otelctx_sys_pid() : 0;
}

void otelctx_memory_adopt(void)
{
    otelctx_memory.wiped.pid = pid_if_needed();
}

void otelctx_memory_wipe(void)
{
    memset(&otelctx_memory.wiped, 0, sizeof(otelctx_memory.wiped));
    otelctx_memory_adopt();
}

void otelctx_memory_notice_fork(void)
{
    if (otelctx_memory.wiped.pid != pid_if_needed())
        otelctx_memory_wipe();
}

void otelctx_memory_pass(bool to_child)
{
    if (to_child)
        (void)otelctx_sys_keep_on_fork(&otelctx_memory, OTELCTX_WIPED_SIZE);
    else if (!otelctx_memory_outlives_fork)
        (void)otelctx_sys_wipe_on_fork(&otelctx_memory, OTELCTX_WIPED_SIZE);
    otelctx_publication_pass(&otelctx_memory.wiped.publication, to_child);
}
