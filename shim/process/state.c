/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/state.h"

#include <elf.h>

#include "shim/base/clock.h"
#include "shim/base/host.h"
#include "shim/base/order.h"
#include "shim/base/sys.h"

/* The linker sorts sections by alignment, largest first. So the wiped page
 * comes first, and the section of the library's small variables shares a page
 * with the end of the keys and the beginning of the first version. */
#define PLACE(section_name, alignment)                                         \
    __attribute__((section(section_name), aligned(alignment)))

union otelctx_state otelctx_state PLACE(".bss.state", OTELCTX_WIPED_SIZE);
struct otelctx_key_map otelctx_state_key_map PLACE(".bss.keys", 128);
struct otelctx_payload otelctx_state_version[3] PLACE(".bss.version", 8);
static char large_scratch[OTELCTX_PAYLOAD_MAX] PLACE(".bss.scratch", 1);

/* Most attributes fit behind the state, in a page that is in use anyway. */
enum {
    SMALL_SCRATCH = 4096 - sizeof(struct otelctx_wiped)
};

uint64_t otelctx_state_page_size;

/* The kernel does not wipe: Linux before 4.14, and emulators. */
static bool survives_fork;

/* Held by the thread that prepares the state. */
static struct otelctx_lock first_use_lock;

char *otelctx_state_scratch(size_t size)
{
    return size <= SMALL_SCRATCH
               ? otelctx_state.scratch + sizeof(struct otelctx_wiped)
               : large_scratch;
}

/* Without wiping, the pid tells a child from its parent. */
static uint64_t pid_if_needed(void)
{
    return survives_fork ? (uint64_t)otelctx_sys_pid() : 0;
}

static void start_use(void)
{
    survives_fork =
        otelctx_sys_wipe_on_fork(&otelctx_state, OTELCTX_WIPED_SIZE) != 0;
    otelctx_state.wiped.pid = pid_if_needed();
    otelctx_state_notice_child();
    otelctx_state_set_own_id(true);
    otelctx_store_release(&otelctx_state_page_size,
                          otelctx_host_auxiliary(AT_PAGESZ));
}

OTELCTX_RARE static int prepare_once(void)
{
    const int err = otelctx_lock(&first_use_lock);

    if (err)
        return err;
    if (!otelctx_state_is_used())
        start_use();
    otelctx_unlock(&first_use_lock);
    return 0;
}

void otelctx_state_begin_unused_child(void)
{
    if (first_use_lock.word != 0 && !otelctx_lock_is_mine(&first_use_lock))
        otelctx_store(&first_use_lock.word, 0);
}

static void wipe(void)
{
    memset(&otelctx_state.wiped, 0, sizeof(otelctx_state.wiped));
    otelctx_state.wiped.pid = pid_if_needed();
}

OTELCTX_RARE static void wipe_in_child(void)
{
    if (otelctx_state.wiped.pid != pid_if_needed())
        wipe();
}

int otelctx_state_lock(void)
{
    const int err = otelctx_state_is_used() ? 0 : prepare_once();

    if (err)
        return err;
    if (survives_fork)
        wipe_in_child();
    return otelctx_lock(&otelctx_state.wiped.lock);
}

int otelctx_state_try_lock(void)
{
    if (survives_fork)
        wipe_in_child();
    return otelctx_lock_try(&otelctx_state.wiped.lock);
}

void otelctx_state_unlock(void)
{
    otelctx_state.wiped.now_ns = 0;
    otelctx_unlock(&otelctx_state.wiped.lock);
}

uint64_t otelctx_state_read_clock(void)
{
    struct otelctx_wiped *const wiped = &otelctx_state.wiped;

    wiped->now_ns = wiped->publication.last_ns == 0
                        ? otelctx_clock_read()
                        : otelctx_clock_read_fast(&wiped->vdso);
    return wiped->now_ns;
}

void otelctx_state_find_clock(void)
{
    otelctx_clock_find_vdso(&otelctx_state.wiped.vdso);
}

void otelctx_state_wipe_inherited(void)
{
    survives_fork = true; /* also where the kernel accepted the request */
    otelctx_publication_drop(otelctx_state_publication());
    wipe();
}

static void set_state_inherited(bool to_child)
{
    if (to_child)
        (void)otelctx_sys_keep_on_fork(&otelctx_state, OTELCTX_WIPED_SIZE);
    else if (!survives_fork)
        (void)otelctx_sys_wipe_on_fork(&otelctx_state, OTELCTX_WIPED_SIZE);
    otelctx_publication_set_inherited(otelctx_state_publication(), to_child);
}

void otelctx_state_begin_handler_fork(void)
{
    otelctx_state.wiped.handler_forks++;
    otelctx_state.wiped.handler_forks_ever++;
    set_state_inherited(true);
}

void otelctx_state_end_handler_fork(void)
{
    otelctx_state.wiped.handler_forks--;
    set_state_inherited(false);
}

void otelctx_state_adopt_copy(void)
{
    otelctx_state.wiped.pid = pid_if_needed();
}
