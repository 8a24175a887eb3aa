/* SPDX-License-Identifier: Apache-2.0 */

/* Where readers find the header, and how many headers there are. */

#include "demo/kit/scenes/scenes.h"
#include "demo/kit/stage/context.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct kind {
    enum otelkit_mapping kind;
    const char *name;
    size_t pages;
    int protection; /* mprotect() after writing; 0: none */
};

static int set_kind(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_bytes shop;
    const struct kind *const kind = how;
    struct otelctx_header *at = NULL;
    const int error =
        otelkit_map(stage, kind->kind, kind->name, kind->pages, &at);

    if (error != 0)
        return error;
    otelkit_service(&shop, "shop");
    memcpy(at + 1, shop.at, shop.size);
    otelkit_write(at, otelkit_header(at + 1, shop.size));
    if (kind->protection != 0 &&
        mprotect(at, kind->pages * (size_t)getpagesize(), kind->protection))
        return otelkit_stage_refuse(stage, "cannot protect the mapping: %s",
                                    strerror(errno));
    return 0;
}

#define KIND(kind_, name_, pages_)                                             \
    .set = set_kind, .how = &(const struct kind)                               \
    {                                                                          \
        .kind = (kind_), .name = (name_), .pages = (pages_)                    \
    }
#define PROTECTED(protection_)                                                 \
    .set = set_kind, .how = &(const struct kind)                               \
    {                                                                          \
        .kind = OTELKIT_MEMFD, .name = OTELCTX_MAPPING_NAME, .pages = 1,       \
        .protection = (protection_)                                            \
    }

static int map_memfd(struct otelkit_stage *stage, off_t size, int flags,
                     struct otelctx_header **out)
{
    const int fd = memfd_create(OTELCTX_MAPPING_NAME, MFD_CLOEXEC);
    void *at = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, size) == 0)
        at = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE, flags,
                  fd, 0);
    if (fd >= 0)
        (void)close(fd);
    if (at == MAP_FAILED)
        return otelkit_stage_refuse(stage, "cannot map a file: %s",
                                    strerror(errno));
    otelkit_stage_at(stage, "header", at);
    *out = at;
    return 0;
}

static int set_shared(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_bytes shop;
    struct otelctx_header *at = NULL;
    const int error = map_memfd(stage, getpagesize(), MAP_SHARED, &at);

    (void)how;
    if (error != 0)
        return error;
    otelkit_service(&shop, "shop");
    otelkit_write(at, otelkit_header(shop.at, shop.size));
    return 0;
}

/* A page beyond the end of its file. */
static int set_beyond_file(struct otelkit_stage *stage, const void *how)
{
    struct otelctx_header *at = NULL;

    (void)how;
    return map_memfd(stage, 0, MAP_PRIVATE, &at);
}

static int set_inside(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_bytes shop;
    struct otelctx_header *at = NULL;
    const int error =
        otelkit_map(stage, OTELKIT_MEMFD, OTELCTX_MAPPING_NAME, 1, &at);

    (void)how;
    if (error != 0)
        return error;
    otelkit_service(&shop, "shop");
    otelkit_write(at + 2, otelkit_header(shop.at, shop.size));
    return 0;
}

/* Every second mapping has another protection, so that the kernel joins none.
 */
static int set_many_mappings(struct otelkit_stage *stage, const void *how)
{
    const size_t page = (size_t)getpagesize();
    const long wanted = *(const long *)how;
    FILE *const file = fopen("/proc/sys/vm/max_map_count", "re");
    long limit = 0;

    if (file) {
        if (fscanf(file, "%ld", &limit) != 1)
            limit = 0;
        (void)fclose(file);
    }
    if (limit < wanted + 1000)
        return otelkit_stage_refuse(stage,
                                    "vm.max_map_count is %ld, and must be %ld",
                                    limit, wanted + 1000);
    /* The context is mapped before the others. The kernel maps at descending
     * addresses, so readers meet the context last. */
    const int error = otelkit_publish_shop(stage, NULL);
    char *const area = mmap(NULL, (size_t)wanted * page, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (error != 0 || area == MAP_FAILED)
        return error != 0 ? error : -ENOMEM;
    for (long i = 0; i < wanted; i += 2) {
        if (mprotect(area + (size_t)i * page, page, PROT_READ) != 0)
            return otelkit_stage_refuse(stage, "only %ld mappings", i);
    }
    return 0;
}

/* The stray mapping has the name, and zeros. The mapping that is made later has
 * the lower address, so readers meet it first. */
static int set_stray(struct otelkit_stage *stage, const void *how)
{
    const bool first = *(const bool *)how;
    struct otelctx_header *stray = NULL;
    int error = 0;

    if (!first)
        error =
            otelkit_map(stage, OTELKIT_MEMFD, OTELCTX_MAPPING_NAME, 1, &stray);
    if (error == 0)
        error = otelkit_publish_shop(stage, NULL);
    if (error == 0 && first)
        error =
            otelkit_map(stage, OTELKIT_MEMFD, OTELCTX_MAPPING_NAME, 1, &stray);
    return error;
}

static int set_two(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_bytes cart;
    const int error = otelkit_publish_shop(stage, NULL);

    (void)how;
    otelkit_service(&cart, "cart");
    return error != 0 ? error : otelkit_publish_bytes(stage, &cart, NULL);
}

/* OTEP 4719, "Process Forking", without MADV_DONTFORK. */
static int set_child(struct otelkit_stage *stage, const void *how)
{
    struct otelctx_header *at = NULL;
    const int error = otelkit_publish_shop(stage, &at);
    const int advice = *(const int *)how;
    const pid_t parent = getpid();

    if (error != 0 || madvise(at, (size_t)getpagesize(), advice) != 0)
        return error != 0 ? error : -errno;
    stage->pid = fork();
    if (stage->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent)
            (void)pause();
        _exit(0);
    }
    return stage->pid < 0 ? -errno : 0;
}

static int set_again(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_bytes cart;
    struct otelctx_header *at = NULL;
    int error = otelkit_publish_shop(stage, &at);

    (void)how;
    if (error != 0)
        return error;
    at->published_at_ns = 0;
    memset(at->signature, 0, sizeof(at->signature));
    otelkit_service(&cart, "cart");
    error = otelkit_publish_bytes(stage, &cart, NULL);
    return munmap(at, (size_t)getpagesize()) == 0 ? error : -errno;
}

static int set_dropped(struct otelkit_stage *stage, const void *how)
{
    const bool unmap = *(const bool *)how;
    struct otelctx_header *at = NULL;
    const int error = otelkit_publish_shop(stage, &at);

    if (error != 0)
        return error;
    at->published_at_ns = 0;
    memset(at->signature, 0, sizeof(at->signature));
    return unmap ? munmap(at, (size_t)getpagesize()) : 0;
}

static int set_nothing(struct otelkit_stage *stage, const void *how)
{
    (void)stage;
    (void)how;
    return 0;
}

static void *publish_late(void *stage)
{
    otelkit_sleep_ms(3000);
    (void)otelkit_publish_shop(stage, NULL);
    return NULL;
}

/* Stages for the second thread: the first thread writes the line. */
static int set_late(struct otelkit_stage *stage, const void *how)
{
    static struct otelkit_stage later;

    (void)stage;
    (void)how;
    return otelkit_stage_open(&later) == 0 ? otelkit_go_on(publish_late, &later)
                                           : -ENOMEM;
}

#define SHOWN  .answer = OTELKIT_CONTEXT, .resource = OTELKIT_SHOP
#define EITHER .answer = OTELKIT_EITHER, .resource = OTELKIT_SHOP
#define NONE   .answer = OTELKIT_NONE

const struct otelkit_scene otelkit_mapping_scenes[] = {
    {OTELKIT_ABOUT("mapping/memfd", "a page of a memfd, and no other name",
                   "the context", OTELKIT_READING ", step 1"),
     KIND(OTELKIT_MEMFD, OTELCTX_MAPPING_NAME, 1), SHOWN},
    {OTELKIT_ABOUT("mapping/memfd-named", "a page of a memfd that is named",
                   "the context", OTELKIT_READING ", step 1"),
     KIND(OTELKIT_MEMFD_NAMED, OTELCTX_MAPPING_NAME, 1), SHOWN},
    {OTELKIT_ABOUT("mapping/anonymous-named", "an anonymous page that is named",
                   "the context", OTELKIT_READING ", step 1"),
     KIND(OTELKIT_ANONYMOUS_NAMED, OTELCTX_MAPPING_NAME, 1), SHOWN},
    {OTELKIT_ABOUT("mapping/anonymous", "an anonymous page without a name",
                   "none: neither memfd nor naming worked",
                   OTELKIT_PUBLICATION ", after step 10"),
     KIND(OTELKIT_ANONYMOUS, OTELCTX_MAPPING_NAME, 1), NONE},
    {OTELKIT_ABOUT("mapping/memfd-deleted", "a memfd named OTEL_CTX (deleted)",
                   "either: a name starting with OTEL_CTX",
                   OTELKIT_READING ", step 1"),
     KIND(OTELKIT_MEMFD, "OTEL_CTX (deleted)", 1), EITHER},
    {OTELKIT_ABOUT("mapping/memfd-named-deleted",
                   "a page of a memfd that is named OTEL_CTX (deleted)",
                   "either: a name starting with OTEL_CTX",
                   OTELKIT_READING ", step 1"),
     KIND(OTELKIT_MEMFD_NAMED, "OTEL_CTX (deleted)", 1), EITHER},
    {OTELKIT_ABOUT("mapping/anonymous-named-deleted",
                   "an anonymous page that is named OTEL_CTX (deleted)",
                   "either: a name starting with OTEL_CTX",
                   OTELKIT_READING ", step 1"),
     KIND(OTELKIT_ANONYMOUS_NAMED, "OTEL_CTX (deleted)", 1), EITHER},
    {OTELKIT_ABOUT("mapping/name-longer", "a memfd named OTEL_CTX_2",
                   "either: a name starting with OTEL_CTX",
                   OTELKIT_READING ", step 1"),
     KIND(OTELKIT_MEMFD, "OTEL_CTX_2", 1), EITHER},
    {OTELKIT_ABOUT("mapping/name-shorter", "a memfd named OTEL_CT", "none",
                   OTELKIT_READING ", step 1"),
     KIND(OTELKIT_MEMFD, "OTEL_CT", 1), NONE},
    {OTELKIT_ABOUT("mapping/name-prefixed", "a memfd named MY_OTEL_CTX", "none",
                   OTELKIT_READING ", step 1"),
     KIND(OTELKIT_MEMFD, "MY_OTEL_CTX", 1), NONE},
    {OTELKIT_ABOUT("mapping/name-lower-case", "a memfd named otel_ctx", "none",
                   OTELKIT_READING ", step 1"),
     KIND(OTELKIT_MEMFD, "otel_ctx", 1), NONE},
    {OTELKIT_ABOUT("mapping/two-pages", "two pages", "the context",
                   OTELKIT_HEADER),
     KIND(OTELKIT_MEMFD, OTELCTX_MAPPING_NAME, 2), SHOWN},
    {OTELKIT_ABOUT("mapping/read-only", "a page that is now r--p",
                   "the context", OTELKIT_READING ", step 1"),
     PROTECTED(PROT_READ), SHOWN},
    {OTELKIT_ABOUT("mapping/executable", "a page that is now rwxp",
                   "either: publishers map it rw-p",
                   OTELKIT_PUBLICATION ", step 3"),
     PROTECTED(PROT_READ | PROT_WRITE | PROT_EXEC), EITHER},
    {OTELKIT_ABOUT("mapping/no-access", "a page that is now --xp",
                   "either: the publisher itself cannot read it",
                   OTELKIT_PUBLICATION ", step 3"),
     PROTECTED(PROT_EXEC), EITHER},
    {OTELKIT_ABOUT("mapping/shared", "a page that is rw-s", "the context",
                   OTELKIT_READING ", step 1"),
     .set = set_shared, SHOWN},
    {OTELKIT_ABOUT("mapping/beyond-file",
                   "a lone mapping, and its file has 0 bytes",
                   "none: nothing can be read", OTELKIT_READING ", step 2"),
     .set = set_beyond_file, NONE},
    {OTELKIT_ABOUT("mapping/header-inside", "a header 64 bytes into its page",
                   "none: the first 8 bytes decide",
                   OTELKIT_READING ", step 2"),
     .set = set_inside, NONE},
    {OTELKIT_ABOUT("mapping/crowd", "60,000 other mappings in front",
                   "the context",
                   "OTEP 4719, Applications with many entries in proc"),
     .set = set_many_mappings, .how = &(const long){60000}, SHOWN},
    {OTELKIT_ABOUT("mapping/crowd-100000", "100,000 other mappings in front",
                   "the context",
                   "OTEP 4719, Applications with many entries in proc"),
     .set = set_many_mappings, .how = &(const long){100000}, SHOWN},
    {OTELKIT_ABOUT("mapping/stray-first",
                   "a page of zeros with the name, then the context",
                   "the context: the stray one is skipped",
                   OTELKIT_READING ", step 2"),
     .set = set_stray, .how = &(const bool){true}, SHOWN},
    {OTELKIT_ABOUT("mapping/stray-last",
                   "the context, then a page of zeros with the name",
                   "the context: the stray one is skipped",
                   OTELKIT_READING ", step 2"),
     .set = set_stray, .how = &(const bool){false}, SHOWN},
    {OTELKIT_ABOUT("mapping/two", "two contexts that both look right",
                   "either: there must not be two", OTELKIT_PUBLICATION),
     .set = set_two, .answer = OTELKIT_EITHER},
    {OTELKIT_ABOUT("mapping/child-copy",
                   "a child with the context of its parent",
                   "either: the publisher forgot MADV_DONTFORK",
                   "OTEP 4719, Process Forking"),
     .set = set_child, .how = &(const int){MADV_DOFORK}, EITHER},
    {OTELKIT_ABOUT("mapping/child", "a child of a publisher",
                   "none: a child does not inherit it",
                   "OTEP 4719, Process Forking"),
     .set = set_child, .how = &(const int){MADV_DONTFORK}, NONE},
    {OTELKIT_ABOUT("mapping/again", "a context that was dropped, and another",
                   "the other", OTELKIT_PUBLICATION),
     .set = set_again, .answer = OTELKIT_CONTEXT,
     .resource = "{\"service.name\":\"cart\"}"},
    {OTELKIT_ABOUT("mapping/dropped", "a context that was dropped", "none",
                   OTELKIT_PUBLICATION),
     .set = set_dropped, .how = &(const bool){true}, NONE},
    {OTELKIT_ABOUT("mapping/dropped-kept",
                   "a context that was dropped, and its page", "none",
                   OTELKIT_READING ", step 2"),
     .set = set_dropped, .how = &(const bool){false}, NONE},
    {OTELKIT_ABOUT("mapping/none", "a process that publishes nothing", "none",
                   OTELKIT_READING),
     .set = set_nothing, NONE},
    {OTELKIT_ABOUT("mapping/late", "a context that comes after 3 s",
                   "either: a reader may wait", OTELKIT_READING),
     .set = set_late, EITHER},
    {.about = {.name = NULL}},
};
