/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/ring.h"

#include "demo/reader/os/memory.h"
#include "demo/reader/payload/slot.h"
#include "demo/reader/report/judge.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* How often to read a slot until it stays the same. */
#define TRIES 60
#define LOOKS 3

#define NAME "[anon:" OTELCTX_RING_NAME "]"

const char *otelread_ring_status_name(enum otelread_ring_status status)
{
    static const char *const names[] = {
        [OTELREAD_RING_NONE] = "none",
        [OTELREAD_RING_OK] = "ok",
        [OTELREAD_RING_INVALID] = "invalid",
        [OTELREAD_RING_NO_PERMISSION] = "no_permission",
        [OTELREAD_RING_BUSY] = "busy",
        [OTELREAD_RING_ERROR] = "error",
    };

    return names[status];
}

/* ---- where it is -------------------------------------------------------- */

static bool is_named(const struct otelread_maps_line *line)
{
    return line->name_size == sizeof(NAME) - 1 &&
           memcmp(line->name, NAME, sizeof(NAME) - 1) == 0;
}

static bool may_be_ring(const struct otelread_maps_line *line)
{
    return line->permissions[0] == 'r' && line->permissions[1] == 'w' &&
           line->name_size == 0;
}

/* What an unnamed mapping must begin with to be taken for a ring. */
static bool is_typical(const struct otelctx_ring_header *header)
{
    return header->magic == OTELCTX_RING_MAGIC &&
           header->version == OTELCTX_RING_VERSION &&
           header->slot_size == sizeof(struct otelctx_ring_slot);
}

static void judge_header(struct otelread_ring *ring)
{
    const struct otelctx_ring_header *const header = &ring->header;
    const uint64_t size = ring->end - ring->start;
    const uint64_t room =
        (size - sizeof(*header)) / sizeof(struct otelctx_ring_slot);

    if (header->magic != OTELCTX_RING_MAGIC)
        otelread_judge(ring, OTELREAD_RING_INVALID,
                       "its magic number is 0x%08x, not 0x%08x", header->magic,
                       OTELCTX_RING_MAGIC);
    else if (header->version != OTELCTX_RING_VERSION)
        otelread_judge(ring, OTELREAD_RING_INVALID,
                       "its version is %u, only %d is supported",
                       header->version, OTELCTX_RING_VERSION);
    else if (header->slot_size != sizeof(struct otelctx_ring_slot))
        otelread_judge(ring, OTELREAD_RING_INVALID,
                       "its slots have %u bytes, not %zu", header->slot_size,
                       sizeof(struct otelctx_ring_slot));
    else if (header->capacity == 0)
        otelread_judge(ring, OTELREAD_RING_INVALID, "its capacity is 0");
    else if (header->capacity > room)
        otelread_judge(ring, OTELREAD_RING_INVALID,
                       "its capacity is %u slots, more than the %" PRIu64
                       " that its mapping of %" PRIu64 " bytes has",
                       header->capacity, room, size);
    else
        otelread_judge(ring, OTELREAD_RING_OK, "%s", "");
}

static int judge_error(struct otelread_ring *ring, int error)
{
    if (error == -EFAULT)
        otelread_judge(ring, OTELREAD_RING_INVALID,
                       "its header cannot be read");
    else if (error == -EPERM || error == -EACCES)
        otelread_judge(ring, OTELREAD_RING_NO_PERMISSION,
                       "no permission to read its memory");
    else if (error == -ETIMEDOUT)
        otelread_judge(ring, OTELREAD_RING_BUSY, OTELREAD_SILENT);
    else
        otelread_judge(ring, OTELREAD_RING_ERROR, "it cannot be read: %s",
                       strerror(-error));
    return error;
}

bool otelread_ring_take(struct otelread_ring *ring,
                        struct otelread_target *target,
                        const struct otelread_maps_line *line)
{
    *ring = (struct otelread_ring){
        .start = line->start, .end = line->end, .named = is_named(line)};
    if (!ring->named && !may_be_ring(line))
        return false;

    target->only_resident = !ring->named; /* there may be thousands */
    const int error = otelread_memory_read(target, ring->start, &ring->header,
                                           sizeof(ring->header));
    target->only_resident = false;
    if (!ring->named && (error != 0 || !is_typical(&ring->header)))
        return false;
    if (error == 0)
        judge_header(ring);
    else
        (void)judge_error(ring, error);
    return true;
}

/* Goes on after a ring that is not valid, and says when there are several. */
static int scan(struct otelread_ring *ring, struct otelread_target *target,
                struct otelread_maps *maps)
{
    struct otelread_ring other;
    struct otelread_maps_line line;
    size_t count = 0;
    int result;

    while ((result = otelread_maps_next_line(maps, &line)) > 0) {
        if (!otelread_ring_take(&other, target, &line))
            continue;
        count += other.status == OTELREAD_RING_OK ? 1 : 0;
        if (ring->status != OTELREAD_RING_OK)
            *ring = other;
    }
    if (count > 1)
        otelread_judge(ring, OTELREAD_RING_OK,
                       "one of %zu rings: there must be only one", count);
    return result;
}

void otelread_ring_find(struct otelread_ring *ring,
                        struct otelread_target *target)
{
    int fd = otelread_target_maps(target);
    struct otelread_maps maps = {.read = otelread_maps_read_fd, .source = &fd};

    *ring = (struct otelread_ring){.status = OTELREAD_RING_NONE};
    if (fd < 0) {
        (void)judge_error(ring, fd);
        return;
    }
    const int error = scan(ring, target, &maps);
    (void)close(fd);
    if (error != 0 && ring->status == OTELREAD_RING_NONE)
        (void)judge_error(ring, error);
}

/* ---- what is in it ------------------------------------------------------ */

uint32_t otelread_ring_index(const struct otelread_ring *ring, uint32_t tid)
{
    return tid % ring->header.capacity;
}

uint64_t otelread_ring_offset(uint32_t index)
{
    return sizeof(struct otelctx_ring_header) +
           (uint64_t)index * sizeof(struct otelctx_ring_slot);
}

/*
 * Three looks: a look is no single moment, but the second one lies between two
 * at the same sequence number.
 */
int otelread_ring_read(const struct otelread_ring *ring,
                       struct otelread_target *target, uint32_t index,
                       struct otelctx_ring_slot *slot)
{
    struct otelctx_ring_slot before = {.lock = 0};
    unsigned same = 0;

    for (unsigned i = 0; i < TRIES && same < LOOKS; i++) {
        const int error = otelread_memory_read(
            target, ring->start + otelread_ring_offset(index), slot,
            sizeof(*slot));

        if (error != 0)
            return error;
        if (!otelread_slot_is_still(slot))
            same = 0;
        else if (same > 0 && memcmp(slot, &before, sizeof(before)) == 0)
            same++;
        else
            same = 1;
        before = *slot;
    }
    return same < LOOKS ? 1 : 0;
}
