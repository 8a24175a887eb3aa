/* SPDX-License-Identifier: Apache-2.0 */

/* The address and the size of the payload. */

#include "demo/kit/scenes/scenes.h"
#include "demo/kit/stage/context.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct otelkit_bytes payload;

/* The address and size that the header announces. */
struct place {
    uint64_t address;
    uint32_t size;
};

static int set_place(struct otelkit_stage *stage, const void *how)
{
    const struct place *const place = how;
    struct otelctx_header *at = NULL;
    const int error = otelkit_publish_shop(stage, &at);

    if (error != 0)
        return error;
    if (place->address != UINT64_MAX)
        at->payload = place->address;
    if (place->size != UINT32_MAX)
        at->payload_size = place->size;
    return 0;
}

#define PLACE(...)                                                             \
    .set = set_place, .how = &(const struct place)                             \
    {                                                                          \
        __VA_ARGS__                                                            \
    }
#define AS_IT_IS UINT64_MAX

static int set_size_max(struct otelkit_stage *stage, const void *how)
{
    struct otelctx_header *at = NULL;
    const int error = otelkit_publish_shop(stage, &at);

    (void)how;
    at->payload_size = UINT32_MAX;
    return error;
}

/* A payload of that many bytes: the service, and one long string. */
static int set_size(struct otelkit_stage *stage, const void *how)
{
    const size_t wanted = *(const size_t *)how;
    static char text[70000];

    memset(text, 'x', sizeof(text) - 1);
    for (size_t length = wanted - 100;; length++) {
        payload.size = 0;
        text[length] = '\0';
        otelkit_service(&payload, "shop");
        otelkit_pair(&payload, OTELKIT_CONTEXT_EXTRA, "long", text);
        text[length] = 'x';
        if (payload.size >= wanted)
            break;
    }
    if (payload.size != wanted)
        return -EINVAL;
    return otelkit_publish_bytes(stage, &payload, NULL);
}

static int set_elsewhere(struct otelkit_stage *stage, const void *how)
{
    (void)how;
    otelkit_service(&payload, "shop");
    return otelkit_publish_bytes(stage, &payload, NULL);
}

/* Two pages. The second is made inaccessible. */
static int set_edge(struct otelkit_stage *stage, const void *how)
{
    const size_t page = (size_t)getpagesize();
    const size_t beyond = *(const size_t *)how;
    struct otelctx_header *at = NULL;
    int error = otelkit_publish_shop(stage, &at);
    uint8_t *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (error != 0 || pages == MAP_FAILED)
        return error != 0 ? error : -ENOMEM;
    otelkit_service(&payload, "shop");
    uint8_t *const start = pages + page - payload.size + beyond;
    memcpy(start, payload.at, payload.size);
    at->payload = (uintptr_t)start;
    error = munmap(pages + page, page);
    otelkit_stage_at(stage, "payload", start);
    return error == 0 ? 0 : -errno;
}

#define SHOWN .answer = OTELKIT_CONTEXT, .resource = OTELKIT_SHOP
#define NONE  .answer = OTELKIT_NONE

const struct otelkit_scene otelkit_place_scenes[] = {
    {OTELKIT_ABOUT("place/behind-header", "a payload behind its header",
                   "the context", OTELKIT_HEADER),
     PLACE(AS_IT_IS, UINT32_MAX), SHOWN},
    {OTELKIT_ABOUT("place/elsewhere", "a payload in other memory",
                   "the context", OTELKIT_HEADER),
     .set = set_elsewhere, SHOWN},
    {OTELKIT_ABOUT("place/end-of-page",
                   "a payload that ends where unmapped memory begins",
                   "the context", OTELKIT_READING ", step 5"),
     .set = set_edge, .how = &(const size_t){0}, SHOWN},
    {OTELKIT_ABOUT("place/into-unmapped",
                   "a payload with its last byte in unmapped memory",
                   "none: it cannot be copied", OTELKIT_READING ", step 5"),
     .set = set_edge, .how = &(const size_t){1}, NONE},
    {OTELKIT_ABOUT("place/unmapped", "a payload in unmapped memory",
                   "none: it cannot be copied", OTELKIT_READING ", step 5"),
     PLACE(4096, UINT32_MAX), NONE},
    {OTELKIT_ABOUT("place/null", "a payload at 0", "none",
                   OTELKIT_PUBLICATION ", step 9"),
     PLACE(0, UINT32_MAX), NONE},
    {OTELKIT_ABOUT("place/kernel", "a payload at an address of the kernel",
                   "none: it cannot be copied", OTELKIT_READING ", step 5"),
     PLACE(UINT64_C(0xffffffff81000000), UINT32_MAX), NONE},
    {OTELKIT_ABOUT("place/wraps", "a payload at the last address",
                   "none: it cannot be copied", OTELKIT_READING ", step 5"),
     PLACE(UINT64_MAX - 8, UINT32_MAX), NONE},
    {OTELKIT_ABOUT("place/size-0", "a payload of 0 bytes",
                   "either: all fields are non-zero, yet 0 bytes are protobuf",
                   OTELKIT_PUBLICATION ", step 9"),
     PLACE(AS_IT_IS, 0), .answer = OTELKIT_EITHER, .resource = "{}"},
    {OTELKIT_ABOUT("place/size-1", "a payload cut to 1 byte", "none",
                   OTELKIT_READING ", step 8"),
     PLACE(AS_IT_IS, 1), NONE},
    {OTELKIT_ABOUT("place/size-65536", "a payload of 65,536 bytes",
                   "the context", OTELKIT_HEADER),
     .set = set_size, .how = &(const size_t){65536}, SHOWN},
    {OTELKIT_ABOUT("place/size-65537", "a payload of 65,537 bytes",
                   "either: the text has no limit, readers do", OTELKIT_HEADER),
     .set = set_size, .how = &(const size_t){65537}, .answer = OTELKIT_EITHER,
     .resource = OTELKIT_SHOP},
    {OTELKIT_ABOUT("place/size-4-gib", "a payload of 4 GiB less 1 byte",
                   "none: it cannot be copied", OTELKIT_READING ", step 5"),
     .set = set_size_max, NONE},
    {.about = {.name = NULL}},
};
