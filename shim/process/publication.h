/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "shim/base/mapping.h"
#include "shim/wire/process.h"

/*
 * One process context as readers see it. All zero: nothing was ever published.
 *
 * The header is at the start of the page. Two areas for payloads follow it and
 * are used in turn, so that the shim never writes the one that a reader may be
 * copying. Longer payloads use two other areas in turn. Those stay mapped until
 * the process ends, because a reader may still follow an old pointer to them.
 *
 * One writer at a time: the caller holds a lock.
 */
struct otelctx_publication {
    struct otelctx_mapping mapping;
    uint8_t *large;   /* two areas of OTELCTX_PAYLOAD_MAX, or NULL */
    uint64_t last_ns; /* the timestamp written last; outlives a drop */
    unsigned turn;    /* which area of the two is next */
    struct otelctx_header written; /* what the shim wrote, or is writing */
};

/* Is there no header, or is it as the shim wrote it? If it differs, another
 * publisher has taken the mapping over. */
bool otelctx_publication_is_ours(const struct otelctx_publication *p);

/*
 * Would a reader accept what is at this address as a process context? With
 * is_known, a timestamp of zero is accepted too: its publisher is writing it.
 * Rule: OTEP 4719, "Reading Protocol".
 */
bool otelctx_publication_is_taken(const void *at, bool is_known);

/*
 * Find room for the next payload, where no reader looks yet. Makes the mapping
 * when there is none.
 *
 * size       of the payload in bytes, 1..OTELCTX_PAYLOAD_MAX
 * page_size  bytes
 *
 * Returns 0 or -errno; failure then names the system call, and what is
 * published stays.
 */
int otelctx_publication_room(struct otelctx_publication *p, size_t size,
                             size_t page_size, uint8_t **room,
                             struct otelctx_failure *failure);

/*
 * Show readers the payload that was written into room. The caller names the
 * mapping next.
 *
 * now_ns  CLOCK_BOOTTIME
 *
 * Rule: OTEP 4719, "Publication Protocol" and "Updating Protocol".
 */
void otelctx_publication_commit(struct otelctx_publication *p,
                                const uint8_t *room, size_t size,
                                uint64_t now_ns);

/* Withdraw what is published, if the mapping is still the shim's. Names the
 * mapping before unmapping it, for readers that hook that call. */
void otelctx_publication_drop(struct otelctx_publication *p);

/* The name is on the stack, whose page is in memory. The page of the file with
 * a literal may not be, and a hook in the kernel cannot wait for it. */
OTELCTX_INLINE int
otelctx_publication_name_mapping(struct otelctx_publication *p)
{
    char name[] = OTELCTX_MAPPING_NAME;

    return otelctx_mapping_name(&p->mapping, name);
}

/*
 * The last step of publishing and of updating: name the mapping.
 *
 * Returns 0, or -errno when no reader can find the mapping; then it is
 * withdrawn.
 */
OTELCTX_INLINE int otelctx_publication_name(struct otelctx_publication *p,
                                            struct otelctx_failure *failure)
{
    const int err = otelctx_publication_name_mapping(p);

    if (err) {
        otelctx_publication_drop(p);
        return otelctx_fail(failure, "prctl", err);
    }
    return 0;
}

/* Forget the mapping: another publisher owns it now. */
void otelctx_publication_forget(struct otelctx_publication *p);

/* to_child true: a forked child gets copies of the mappings. False: it gets
 * none of them. */
void otelctx_publication_set_inherited(const struct otelctx_publication *p,
                                       bool to_child);

/*
 * In a child that got a copy in the middle of its parent's commit: finish that
 * commit. If the interrupted otelctx_publication_commit() then continues in the
 * child, it writes the same again.
 */
void otelctx_publication_finish(struct otelctx_publication *p);

/* Instead of finishing: hide the copy from readers, also if the interrupted
 * commit continues. The next commit shows a context again. */
void otelctx_publication_hide(struct otelctx_publication *p);
