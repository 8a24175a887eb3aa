/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_PUBLICATION_H
#define OTELCTX_PROCESS_PUBLICATION_H

#include <stdbool.h>

#include "shim/base/mapping.h"
#include "shim/wire/process.h"

/*
 * One process context as readers see it. All zero: nothing was ever published.
 *
 * The header is at the start of the page, a payload behind it in one of two
 * areas, in turn: so the one that a reader may be copying is never written.
 * Payloads too long for that take turns in two areas of their own, which stay
 * mapped for good, because a reader may still follow an old pointer to them.
 *
 * One writer at a time: the caller holds a lock.
 */
struct otelctx_publication {
    struct otelctx_mapping mapping;
    uint8_t *large;   /* two areas of OTELCTX_PAYLOAD_MAX, or NULL */
    uint64_t last_ns; /* the timestamp written last; outlives a drop */
    unsigned turn;    /* which area of the two is next */
    struct otelctx_header written; /* as we left it, or are about to */
};

/* Is the header, if any, as we left it? Else somebody took the mapping over. */
bool otelctx_publication_is_ours(const struct otelctx_publication *p);

/*
 * Would a reader take what is at this address for a process context? With
 * is_known, also one whose timestamp is zero, because it is being written.
 * Rule: OTEP 4719, "Reading Protocol".
 */
bool otelctx_publication_is_taken(const void *at, bool is_known);

/*
 * Where the next payload is to be written: memory that no reader looks at yet.
 * Makes the mapping when there is none.
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
 * Show readers the payload that was written into room. Next it is to be named.
 *
 * now_ns  CLOCK_BOOTTIME
 *
 * Rule: OTEP 4719, "Publication Protocol" and "Updating Protocol".
 */
void otelctx_publication_commit(struct otelctx_publication *p,
                                const uint8_t *room, size_t size,
                                uint64_t now_ns);

/* Withdraw what is published, if anything, and if it is still ours. The last
 * step but one names the mapping, for readers that hook that call. */
void otelctx_publication_drop(struct otelctx_publication *p);

/* The name is on the stack, because the stack is in memory: the page of the
 * file that has a literal may not be, and a reader that hooks the call in the
 * kernel cannot wait for it. */
OTELCTX_INLINE int
otelctx_publication_name_mapping(struct otelctx_publication *p)
{
    char name[] = OTELCTX_MAPPING_NAME;

    return otelctx_mapping_name(&p->mapping, name);
}

/*
 * The last step of publishing and of updating: name the mapping.
 *
 * Returns 0, or -errno when readers never had a way to find it: it is
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

/* Never look at the mapping again: it is somebody else's. */
void otelctx_publication_forget(struct otelctx_publication *p);

/* Let a child have a copy of all this, or, as it was, nothing. */
void otelctx_publication_set_inherited(const struct otelctx_publication *p,
                                       bool to_child);

/*
 * In a child that has a copy of what its parent was about to show: show it. The
 * interrupted otelctx_publication_commit() may still go on, and does the same.
 */
void otelctx_publication_finish(struct otelctx_publication *p);

/* Or let no reader see it, also when the interrupted commit goes on. The next
 * commit shows it again. */
void otelctx_publication_hide(struct otelctx_publication *p);

#endif
