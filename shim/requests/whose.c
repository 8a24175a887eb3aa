/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/requests/whose.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "shim/base/sys_call.h"
#include "shim/requests/stream.h"

/* The beginnings of heads, until the rest comes. */
enum {
    ROOMS = 64
};
static char rooms[ROOMS][OTELCTX_HEAD_LIMIT];
static uint64_t rooms_taken; /* a bit each */

struct connection {
    struct otelctx_stream stream;
    uint16_t gathered; /* bytes in the room */
    uint8_t room;      /* 0: none; 1: rooms[0] */
    bool busy;         /* a thread is changing this */
    bool reads;        /* its epoll set waits for more to read */
};

uint8_t otelctx_known[OTELCTX_DESCRIPTORS];
static struct connection connections[OTELCTX_DESCRIPTORS];

/* Of a set of epoll: the only connection in it, +1; 0: none; SEVERAL. */
enum {
    SEVERAL = UINT16_MAX
};
static uint16_t members[OTELCTX_DESCRIPTORS];

/* This process, in memory that a forked child finds zeroed. A child of vfork
 * shares the memory, and has another id. */
static uint64_t *process;

static int process_id(void)
{
    return (int)otelctx_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

__attribute__((constructor)) static void begin(void)
{
    const size_t size = 4096;
    const long page =
        otelctx_syscall(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page > 0 || page < -4095)
        process = (uint64_t *)page;
    if (process && otelctx_syscall(SYS_madvise, page, (long)size,
                                   MADV_WIPEONFORK, 0, 0, 0) == 0)
        *process = (uint64_t)process_id();
    else
        process = NULL; /* before Linux 4.14: not known */
}

/* Does the caller run in memory that is another process's? */
static bool is_borrowed(void)
{
    uint64_t own;

    if (!process)
        return false;
    own = *process;
    if (own == 0)
        *process = own = (uint64_t)process_id();
    return own != (uint64_t)process_id();
}

static void know(int fd, uint8_t set, uint8_t clear)
{
    if ((unsigned)fd < OTELCTX_DESCRIPTORS)
        __atomic_store_n(&otelctx_known[fd],
                         (uint8_t)((otelctx_known[fd] & ~clear) | set),
                         __ATOMIC_RELAXED);
}

/* ---- Connections -------------------------------------------------------- */

static bool take_room(struct connection *c)
{
    uint64_t taken = __atomic_load_n(&rooms_taken, __ATOMIC_RELAXED);

    while (~taken) {
        const unsigned i = (unsigned)__builtin_ctzll(~taken);

        if (__atomic_compare_exchange_n(&rooms_taken, &taken,
                                        taken | UINT64_C(1) << i, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            c->room = (uint8_t)(i + 1);
            return true;
        }
    }
    return false;
}

static void leave_room(struct connection *c)
{
    if (c->room)
        __atomic_fetch_and(&rooms_taken, ~(UINT64_C(1) << (c->room - 1)),
                           __ATOMIC_RELEASE);
    c->room = 0;
    c->gathered = 0;
}

/* Keep the beginning of a head. False: there is no room. */
static bool gather(struct connection *c, struct otelctx_span text)
{
    if ((!c->room && !take_room(c)) ||
        text.size > (size_t)(OTELCTX_HEAD_LIMIT - c->gathered))
        return false;
    memcpy(rooms[c->room - 1] + c->gathered, text.at, text.size);
    c->gathered = (uint16_t)(c->gathered + text.size);
    return true;
}

static void take(struct connection *c, struct otelctx_span text,
                 struct otelctx_news *news)
{
    while (text.size > 0 && c->stream.protocol != OTELCTX_OPAQUE) {
        const size_t room = OTELCTX_HEAD_LIMIT - (size_t)c->gathered;
        const size_t before = c->gathered;
        size_t part = text.size, used;

        if (c->gathered) {
            part = part < room ? part : room;
            (void)gather(c, (struct otelctx_span){text.at, part});
            used = otelctx_stream_take(
                &c->stream,
                (struct otelctx_span){rooms[c->room - 1], c->gathered}, news);
            if (used) {
                leave_room(c);
                used -= before;
            } else if (part == room) {
                c->stream.protocol = OTELCTX_OPAQUE;
            } else {
                used = part;
            }
        } else {
            used = otelctx_stream_take(&c->stream, text, news);
            if (used == 0) {
                used = part;
                if (!gather(c, text))
                    c->stream.protocol = OTELCTX_OPAQUE;
            }
        }
        text.at += used;
        text.size -= used;
    }
    if (c->stream.protocol == OTELCTX_OPAQUE)
        leave_room(c);
}

static bool lock(struct connection *c)
{
    return !__atomic_exchange_n(&c->busy, true, __ATOMIC_ACQUIRE);
}

static void unlock(struct connection *c)
{
    __atomic_store_n(&c->busy, false, __ATOMIC_RELEASE);
}

/* Another thread, or the code that this signal handler interrupted, is changing
 * it: from here on, heads could be cut wrongly. */
static void give_up(int fd)
{
    __atomic_store_n(&connections[fd].stream.protocol, OTELCTX_OPAQUE,
                     __ATOMIC_RELAXED);
}

static void reset(int fd)
{
    struct connection *c = &connections[fd];

    if (!lock(c)) {
        give_up(fd);
        return;
    }
    leave_room(c);
    c->stream = (struct otelctx_stream){.labels = otelctx_shown_labels(fd)};
    otelctx_labels_clear(c->stream.labels);
    c->reads = false;
    unlock(c);
}

void otelctx_whose_accepted(int fd)
{
    if ((unsigned)fd >= OTELCTX_DESCRIPTORS || is_borrowed())
        return;
    reset(fd);
    know(fd, OTELCTX_ACCEPTED, UINT8_MAX);
}

bool otelctx_whose_shows(void)
{
    return otelctx_shown.shows;
}

/* To read after an answer is to wait for the next request. To read another
 * connection is to work for that one, and in a loop that serves several
 * connections whatever the loop watches is another one's. */
void otelctx_whose_reads(int fd)
{
    const uint8_t known = otelctx_descriptor(fd);
    bool ends;

    if (known & OTELCTX_ACCEPTED)
        ends = otelctx_shown.fd != fd || known & OTELCTX_ANSWERED;
    else
        ends = otelctx_shown.loops && otelctx_shown.fd != fd;
    if (ends)
        otelctx_shown_end();
}

static void came(int fd, struct connection *c, const struct iovec *parts,
                 size_t size)
{
    struct otelctx_news news = {.mixed = false};

    for (; size > 0; parts++) {
        const size_t part = parts->iov_len < size ? parts->iov_len : size;

        take(c, (struct otelctx_span){parts->iov_base, part}, &news);
        size -= part;
    }
    if (news.mixed)
        otelctx_stream_forget(&c->stream);
    if (news.began || news.goes_on) {
        know(fd, 0, OTELCTX_ANSWERED);
        if (!otelctx_show(fd, &c->stream))
            c->stream.protocol = OTELCTX_OPAQUE;
    } else if (c->stream.protocol == OTELCTX_OPAQUE) {
        otelctx_hide();
    }
}

void otelctx_whose_read(int fd, const struct iovec *parts, size_t size)
{
    struct connection *c = &connections[fd];

    if (!(otelctx_descriptor(fd) & OTELCTX_ACCEPTED))
        return;
    if (!otelctx_shown_enter()) {
        give_up(fd);
        return;
    }
    if (size == 0) {
        otelctx_hide();
    } else if (lock(c)) {
        came(fd, c, parts, size);
        unlock(c);
    } else {
        give_up(fd);
        otelctx_hide();
    }
    otelctx_shown_leave();
}

void otelctx_whose_lost(int fd)
{
    if (!(otelctx_descriptor(fd) & OTELCTX_ACCEPTED))
        return;
    give_up(fd);
    otelctx_shown_end();
}

void otelctx_whose_wrote(int fd, const void *end, size_t size)
{
    struct connection *c = &connections[fd];
    const uint8_t known = otelctx_descriptor(fd);
    bool ends = otelctx_shown.loops;

    if (known & OTELCTX_ACCEPTED) {
        know(fd, OTELCTX_ANSWERED, 0);
        if (otelctx_stream_ends(&c->stream, (struct otelctx_span){end, size})) {
            otelctx_stream_forget(&c->stream);
            ends = true;
        }
        ends |= otelctx_shown.fd != fd;
    } else if (otelctx_shown.fd == fd) {
        return;
    }
    if (ends)
        otelctx_shown_end();
}

void otelctx_whose_closes(int fd, bool closes)
{
    if ((unsigned)fd >= OTELCTX_DESCRIPTORS || is_borrowed())
        return;
    if (closes) {
        if (otelctx_descriptor(fd) & OTELCTX_ACCEPTED)
            reset(fd);
        members[fd] = 0;
        know(fd, 0, UINT8_MAX);
    }
    if (otelctx_shown.fd == fd)
        otelctx_shown_end();
}

/* ---- Waiting ------------------------------------------------------------ */

void otelctx_whose_watches(int set, int operation, int fd, uint32_t events)
{
    const uint8_t known = otelctx_descriptor(fd);

    if ((unsigned)fd >= OTELCTX_DESCRIPTORS ||
        (unsigned)set >= OTELCTX_DESCRIPTORS || operation == EPOLL_CTL_DEL ||
        is_borrowed())
        return;
    know(fd, OTELCTX_WATCHED, 0);
    know(set, OTELCTX_EPOLL, 0);
    connections[fd].reads = (events & EPOLLIN) != 0;
    if (known & OTELCTX_EPOLL && members[fd])
        members[set] = SEVERAL;
    else if (known & OTELCTX_ACCEPTED && operation == EPOLL_CTL_ADD)
        members[set] = members[set] == 0 || members[set] == fd + 1
                           ? (uint16_t)(fd + 1)
                           : SEVERAL;
}

void otelctx_whose_waits_set(int set)
{
    const bool is_known = otelctx_descriptor(set) & OTELCTX_EPOLL;
    const uint16_t member = is_known ? members[set] : SEVERAL;

    if (member == SEVERAL)
        otelctx_shown.loops = true;
    if (!otelctx_shown.shows || member == 0 ||
        (member == otelctx_shown.fd + 1 &&
         !connections[otelctx_shown.fd].reads))
        return;
    otelctx_shown_end();
}

void otelctx_whose_waits(int fd, bool reads, bool alone)
{
    const uint8_t known = otelctx_descriptor(fd);

    if (!(known & OTELCTX_ACCEPTED))
        return;
    if (!alone)
        otelctx_shown.loops = true;
    if (reads || otelctx_shown.fd != fd)
        otelctx_shown_end();
}

void otelctx_whose_accepts(void)
{
    otelctx_shown_end();
}
