/* SPDX-License-Identifier: Apache-2.0 */

/* The fields of the header, and when they change. */

#include "demo/kit/scenes/scenes.h"
#include "demo/kit/stage/context.h"

#include <string.h>
#include <time.h>

struct fields {
    const char *signature;
    uint32_t version;
    int64_t ahead_ns; /* of the present time */
    clockid_t clock;
    bool never; /* the timestamp is 0 */
};

static int set_fields(struct otelkit_stage *stage, const void *how)
{
    const struct fields *const fields = how;
    struct otelctx_header *at = NULL;
    struct timespec now = {0};
    const int error = otelkit_publish_shop(stage, &at);

    if (error != 0)
        return error;
    (void)clock_gettime(fields->clock, &now);
    memcpy(at->signature, fields->signature, sizeof(at->signature));
    at->version = fields->version;
    at->published_at_ns = fields->never
                              ? 0
                              : (uint64_t)(now.tv_sec * 1000000000 +
                                           now.tv_nsec + fields->ahead_ns);
    return 0;
}

#define FIELDS(signature_, version_, ...)                                      \
    .set = set_fields, .how = &(const struct fields)                           \
    {                                                                          \
        .signature = (signature_), .version = (version_), __VA_ARGS__          \
    }

/* The timestamp is 0 for 10 ms of every 20, as long as the process lives. */
static void *close_and_open(void *header)
{
    struct otelctx_header *const at = header;

    for (;;) {
        otelkit_sleep_ms(10);
        __atomic_store_n(&at->published_at_ns, otelkit_boottime_ns(),
                         __ATOMIC_SEQ_CST);
        otelkit_sleep_ms(10);
        __atomic_store_n(&at->published_at_ns, 0, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static int set_closing(struct otelkit_stage *stage, const void *how)
{
    struct otelctx_header *at = NULL;
    const int error = otelkit_publish_shop(stage, &at);

    (void)how;
    if (error != 0)
        return error;
    at->published_at_ns = 0;
    return otelkit_go_on(close_and_open, at);
}

static struct otelctx_header *written;
static struct otelctx_header whole;

static void *write_signature(void *unused)
{
    (void)unused;
    otelkit_sleep_ms(20);
    memcpy(written->signature, whole.signature, sizeof(whole.signature));
    return NULL;
}

static void *write_timestamp(void *unused)
{
    (void)unused;
    otelkit_sleep_ms(20);
    __atomic_store_n(&written->published_at_ns, whole.published_at_ns,
                     __ATOMIC_SEQ_CST);
    return NULL;
}

/* The scenario is on stage before the last field changes. */
static int set_last(struct otelkit_stage *stage, const void *how)
{
    const bool signature = *(const bool *)how;
    const int error = otelkit_publish_shop(stage, &written);

    if (error != 0)
        return error;
    whole = *written;
    if (signature)
        memset(written->signature, 0, sizeof(written->signature));
    else
        written->published_at_ns = 0;
    return otelkit_go_on(signature ? write_signature : write_timestamp, NULL);
}

/* The header of draft 001: the timestamp is 12 bytes behind its start. */
struct __attribute__((packed)) draft_header {
    uint8_t signature[OTELCTX_SIGNATURE_SIZE] OTELCTX_NONSTRING;
    uint32_t version;
    uint64_t published_at_ns; /* CLOCK_REALTIME */
    uint32_t payload_size;
    uint64_t payload;
};
_Static_assert(sizeof(struct draft_header) == sizeof(struct otelctx_header),
               "the dump has 32 bytes");

static int set_packed(struct otelkit_stage *stage, const void *how)
{
    struct otelctx_header *at = NULL;
    struct timespec now = {0};
    const int error = otelkit_publish_shop(stage, &at);

    (void)how;
    if (error != 0)
        return error;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const struct draft_header packed = {
        .signature = OTELCTX_SIGNATURE,
        .version = at->version,
        .published_at_ns =
            (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec,
        .payload_size = at->payload_size,
        .payload = at->payload,
    };
    memcpy(at, &packed, sizeof(packed));
    return 0;
}

#define SHOWN     .answer = OTELKIT_CONTEXT, .resource = OTELKIT_SHOP
#define EITHER    .answer = OTELKIT_EITHER, .resource = OTELKIT_SHOP
#define NONE      .answer = OTELKIT_NONE
#define SIGNATURE OTELCTX_SIGNATURE
#define DAY_NS    INT64_C(86400000000000)

const struct otelkit_scene otelkit_header_scenes[] = {
    {OTELKIT_ABOUT("header/version-0", "version 0", "none", OTELKIT_HEADER),
     FIELDS(SIGNATURE, 0, .clock = CLOCK_BOOTTIME), NONE},
    {OTELKIT_ABOUT("header/version-1", "version 1, in the layout of version 2",
                   "either: it can be used for development", OTELKIT_HEADER),
     FIELDS(SIGNATURE, 1, .clock = CLOCK_BOOTTIME), .answer = OTELKIT_EITHER},
    {OTELKIT_ABOUT("header/version-3", "version 3", "none",
                   OTELKIT_READING ", step 2"),
     FIELDS(SIGNATURE, 3, .clock = CLOCK_BOOTTIME), NONE},
    {OTELKIT_ABOUT("header/version-swapped", "version 2, big-endian", "none",
                   OTELKIT_READING ", step 2"),
     FIELDS(SIGNATURE, 0x02000000, .clock = CLOCK_BOOTTIME), NONE},
    {OTELKIT_ABOUT("header/signature-missing", "a signature of zeros", "none",
                   OTELKIT_READING ", step 2"),
     FIELDS("\0\0\0\0\0\0\0", 2, .clock = CLOCK_BOOTTIME), NONE},
    {OTELKIT_ABOUT("header/signature-other", "the signature OTEL_CTY",
                   "none: 8 bytes are compared", OTELKIT_HEADER),
     FIELDS("OTEL_CTY", 2, .clock = CLOCK_BOOTTIME), NONE},
    {OTELKIT_ABOUT("header/signature-lower-case", "the signature otel_ctx",
                   "none", OTELKIT_HEADER),
     FIELDS("otel_ctx", 2, .clock = CLOCK_BOOTTIME), NONE},
    {OTELKIT_ABOUT("header/signature-short", "the signature OTEL_CT and a NUL",
                   "none: 8 bytes are compared", OTELKIT_HEADER),
     FIELDS("OTEL_CT", 2, .clock = CLOCK_BOOTTIME), NONE},
    {OTELKIT_ABOUT("header/signature-last",
                   "a signature that is written 20 ms later",
                   "either: a reader may wait", OTELKIT_READING ", step 2"),
     .set = set_last, .how = &(const bool){true}, EITHER},
    {OTELKIT_ABOUT("header/timestamp-last",
                   "a timestamp that is written 20 ms later",
                   "either: a reader may wait", OTELKIT_READING ", step 3"),
     .set = set_last, .how = &(const bool){false}, EITHER},
    {OTELKIT_ABOUT("header/timestamp-0", "a timestamp of 0, for ever",
                   "none: it is being written", OTELKIT_READING ", step 3"),
     FIELDS(SIGNATURE, 2, .never = true), NONE},
    {OTELKIT_ABOUT("header/timestamp-0-at-times",
                   "a timestamp of 0 in 10 ms of every 20", "the context",
                   OTELKIT_READING ", step 3"),
     .set = set_closing, SHOWN},
    {OTELKIT_ABOUT("header/timestamp-realtime", "a timestamp of CLOCK_REALTIME",
                   "the context: the clock is a SHOULD", OTELKIT_HEADER),
     FIELDS(SIGNATURE, 2, .clock = CLOCK_REALTIME), SHOWN},
    {OTELKIT_ABOUT("header/timestamp-future", "a timestamp of tomorrow",
                   "the context: only changes count", OTELKIT_HEADER),
     FIELDS(SIGNATURE, 2, .ahead_ns = DAY_NS, .clock = CLOCK_BOOTTIME), SHOWN},
    {OTELKIT_ABOUT("header/timestamp-max", "a timestamp of 2^64 - 1",
                   "the context: only changes count", OTELKIT_HEADER),
     FIELDS(SIGNATURE, 2, .ahead_ns = -1, .clock = -1), SHOWN},
    {OTELKIT_ABOUT("header/timestamp-1", "a timestamp of 1",
                   "the context: it is not zero", OTELKIT_HEADER),
     FIELDS(SIGNATURE, 2, .ahead_ns = 1, .clock = -1), SHOWN},
    {OTELKIT_ABOUT("header/packed", "the header of a draft, without padding",
                   "either: drafts had it so", "draft 001, dump"),
     .set = set_packed, EITHER},
    {.about = {.name = NULL}},
};
