/* SPDX-License-Identifier: Apache-2.0 */

/* OTEP 4719, "Reading Protocol", rule by rule. reader_hostile.c has broken
 * contexts. */

#include "tests/e2e/reader/reader_harness.h"

#include <sched.h>

TestSuite(reader_protocol, .timeout = 600);

/* ---- step 1: locate ----------------------------------------------------- */

static void shop(int ready, int commands)
{
    (void)commands;
    publish_shop();
    say_ready(ready);
}

Test(reader_protocol, a_published_context_is_found_and_shown)
{
    EXPECT_STATUS(run_on(shop, "--"), 0);
    EXPECT_TEXT(last.out, "/memfd:OTEL_CTX (deleted)\n");
    EXPECT_TEXT(last.out, "\n    service.name  \"shop\"\n");
    cr_expect_str_empty(last.err);

    EXPECT_STATUS(run_on(shop, "--json"), 0);
    EXPECT_JSON("length == 1 and .[0].status == \"ok\" and "
                "(.[0] | has(\"message\") | not) and "
                ".[0].contexts[0].resource.attributes == [{\"key\": "
                "\"service.name\", \"value\": {\"stringValue\": \"shop\"}}]");
    EXPECT_JSON(".[0].contexts[0] | .header.version == 2 and "
                ".header.payload_size == 26 and "
                "(.age_ns | tonumber) >= 0 and (.age_ns | tonumber) < 1e10 and "
                ".mapping.permissions == \"rw-p\"");
}

static void longer_name(int ready, int commands)
{
    (void)commands;
    publish(map_page("OTEL_CTX of a test"), SHOP, sizeof(SHOP) - 1);
    say_ready(ready);
}

static void other_name(int ready, int commands)
{
    (void)commands;
    publish(map_page("DD_OTEL_CTX"), SHOP, sizeof(SHOP) - 1);
    say_ready(ready);
}

Test(reader_protocol, a_mapping_whose_name_is_longer_is_found)
{
    EXPECT_STATUS(run_on(longer_name, "--"), 0);
    EXPECT_STATUS(run_on(other_name, "--"), 5);
    EXPECT_TEXT(last.err, ": no process context\n");
}

static void read_only(int ready, int commands)
{
    (void)commands;
    struct page *const page = publish_shop();

    mprotect(page, PAGE, PROT_READ);
    say_ready(ready);
}

Test(reader_protocol, a_read_only_mapping_is_read)
{
    EXPECT_STATUS(run_on(read_only, "--"), 0);
    EXPECT_TEXT(last.out, " r--p /memfd:OTEL_CTX");
}

static void many_mappings(int ready, int commands)
{
    enum {
        COUNT = 20000
    };
    char *const area = mmap(NULL, (size_t)COUNT * PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    (void)commands;
    if (area == MAP_FAILED)
        _exit(99);
    for (size_t i = 0; i < COUNT; i += 2) {
        if (mprotect(area + i * PAGE, PAGE, PROT_READ) != 0)
            _exit(99);
    }
    publish_shop();
    say_ready(ready);
}

Test(reader_protocol, a_context_among_very_many_mappings_is_found)
{
    EXPECT_STATUS(run_on(many_mappings, "--"), 0);
}

/* ---- step 2: signature and version -------------------------------------- */

static void wrong_signature(int ready, int commands)
{
    (void)commands;
    memcpy(publish_shop()->header.signature, "OTEL_CT\x1b", 8);
    say_ready(ready);
}

static void wrong_version(int ready, int commands)
{
    (void)commands;
    publish_shop()->header.version = 3;
    say_ready(ready);
}

static void unreadable(int ready, int commands)
{
    (void)commands;
    mprotect(publish_shop(), PAGE, PROT_NONE);
    say_ready(ready);
}

Test(reader_protocol, a_mapping_without_the_signature_is_invalid)
{
    EXPECT_STATUS(run_on(wrong_signature, "--"), 7);
    EXPECT_TEXT(last.err, "signature is \"OTEL_CT\\x1b\", not \"OTEL_CTX\"");
    EXPECT_TEXT(last.err, "\"/memfd:OTEL_CTX (deleted)\" at 0x");
    cr_expect_str_empty(last.out);
}

Test(reader_protocol, a_version_other_than_2_and_1_is_invalid)
{
    EXPECT_STATUS(run_on(wrong_version, "--"), 7);
    EXPECT_TEXT(last.err, "version is 3, only 2 and 1 are supported");
}

Test(reader_protocol, a_header_that_cannot_be_read_is_invalid)
{
    /* /proc/PID/mem ignores the protection; process_vm_readv does not. */
    EXPECT_STATUS(run_on(unreadable, "--"), 7);
    EXPECT_TEXT(last.err, "header cannot be read");
}

static void one_of_each(int ready, int commands)
{
    (void)commands;
    memcpy(publish_shop()->header.signature, "garbage!", 8);
    publish_shop();
    publish_shop()->header.version = 1;
    say_ready(ready);
}

Test(reader_protocol, mappings_that_fail_the_checks_are_skipped)
{
    EXPECT_STATUS(run_on(one_of_each, "--json"), 0);
    EXPECT_JSON(".[0].contexts | length == 1");
}

/* ---- formats of drafts -------------------------------------------------- */

/* Resource { attributes { key: "service.name" value { "shop" } } } */
#define BARE "\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04shop"

static uint64_t realtime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* A number of this many bytes at any address. */
static void put(struct page *page, size_t at, uint64_t number, size_t size)
{
    memcpy((char *)page + at, &number, size);
}

static struct page *publish_bare(void)
{
    struct page *const page = map_page(OTELCTX_MAPPING_NAME);

    publish(page, BARE, sizeof(BARE) - 1);
    return page;
}

static void draft(int ready, int commands)
{
    (void)commands;
    put(publish_bare(), 16, realtime_ns(), 8);
    say_ready(ready);
}

/* As in a dump in the discussion of the OTEP, December 2025. */
static void packed(int ready, int commands)
{
    struct page *const page = publish_bare();

    (void)commands;
    put(page, 12, realtime_ns(), 8);
    put(page, 20, sizeof(BARE) - 1, 4);
    mprotect(page, PAGE, PROT_READ);
    say_ready(ready);
}

static void version_1(int ready, int commands)
{
    (void)commands;
    publish_shop()->header.version = 1;
    say_ready(ready);
}

static void version_1_msgpack(int ready, int commands)
{
    static const char bytes[] = "\x81\xacservice.name\xa4shop";
    struct page *const page = map_page(OTELCTX_MAPPING_NAME);

    (void)commands;
    publish(page, bytes, sizeof(bytes) - 1);
    page->header.version = 1;
    put(page, 16, (uintptr_t)page->payload, 8);
    put(page, 24, 0, 8);
    say_ready(ready);
}

Test(reader_protocol, a_draft_format_is_named_and_decoded)
{
    static const struct {
        target_body *body;
        const char *name;
    } forms[] = {{draft, "draft"},
                 {packed, "packed"},
                 {version_1, "version_1"},
                 {version_1_msgpack, "version_1_msgpack"}};
    char filter[200];
    char text[64];

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        EXPECT_STATUS(run_on(forms[i].body, "--json"), 0);
        snprintf(filter, sizeof(filter),
                 ".[0].contexts[0] | .form == \"%s\" and "
                 ".resource.attributes[0].value.stringValue == \"shop\" and "
                 "((.age_ns // \"0\") | tonumber) < 60e9 and "
                 ".header.payload_size < 40",
                 forms[i].name);
        EXPECT_JSON(filter);
        snprintf(text, sizeof(text), ": its context has an older form (%s), ",
                 forms[i].name);
        EXPECT_TEXT(last.err, text);
        EXPECT_STATUS(run_on(forms[i].body, "--"), 0);
        snprintf(text, sizeof(text), "\n  form       %s", forms[i].name);
        EXPECT_TEXT(last.out, text);
        EXPECT_STATUS(run_on(forms[i].body, "--raw"), 0);
        EXPECT_TEXT(last.out, "\n  payload at 0x");
    }
    EXPECT_STATUS(run_on(packed, "--raw"), 0);
    EXPECT_TEXT(last.out, "payload_size 24\n");
    EXPECT_TEXT(last.out, "  attributes: KeyValue, 22 bytes\n");
}

static void bare(int ready, int commands)
{
    (void)commands;
    publish_bare();
    say_ready(ready);
}

static void packed_by_chance(int ready, int commands)
{
    struct page *const page = publish_shop();

    (void)commands;
    put(page, 12, realtime_ns(), 8);
    put(page, 20, 3000, 4);
    say_ready(ready);
}

Test(reader_protocol, the_accepted_format_is_checked_by_its_own_rules)
{
    EXPECT_STATUS(run_on(bare, "--"), 7);
    EXPECT_STATUS(run_on(packed_by_chance, "--json"), 7);
    EXPECT_TEXT(last.out, "the payload size is ");
}

static void late_signature(int ready, int commands)
{
    struct page *const page = map_page(OTELCTX_MAPPING_NAME);

    (void)commands;
    say_ready(ready);
    sleep_ms(20);
    publish(page, SHOP, sizeof(SHOP) - 1);
}

Test(reader_protocol, the_reader_waits_for_a_first_publish)
{
    EXPECT_STATUS(run_on(late_signature, "--"), 0);
}

/* ---- step 3: the timestamp ---------------------------------------------- */

static void zero_for_a_while(int ready, int commands)
{
    struct page *const page = publish_shop();

    (void)commands;
    __atomic_store_n(&page->header.published_at_ns, 0, __ATOMIC_SEQ_CST);
    say_ready(ready);
    sleep_ms(30);
    __atomic_store_n(&page->header.published_at_ns, 7, __ATOMIC_SEQ_CST);
}

static void zero_for_ever(int ready, int commands)
{
    (void)commands;
    publish_shop()->header.published_at_ns = 0;
    say_ready(ready);
}

Test(reader_protocol, the_reader_waits_while_the_timestamp_is_zero)
{
    EXPECT_STATUS(run_on(zero_for_a_while, "--json"), 0);
    EXPECT_JSON(".[0].contexts[0].header.published_at_ns == \"7\"");
}

Test(reader_protocol, a_timestamp_that_stays_zero_is_busy)
{
    EXPECT_STATUS(run_on(zero_for_ever, "--json"), 8);
    EXPECT_JSON(".[0].status == \"busy\" and .[0].contexts == []");
    EXPECT_TEXT(last.err, "timestamp stayed zero");
}

/* ---- steps 5 to 7: a consistent payload --------------------------------- */

/* OTEP 4719, "Updating Protocol", as fast as possible. */
static void restless(int ready, int commands)
{
    static const char *const payloads[] = {SHOP, CART};
    struct page *const page = publish_shop();
    uint64_t stamp = boottime_ns();

    (void)commands;
    say_ready(ready);
    for (unsigned turn = 0;; turn++) {
        __atomic_store_n(&page->header.published_at_ns, 0, __ATOMIC_SEQ_CST);
        memcpy(page->payload, payloads[turn % 2], sizeof(SHOP) - 1);
        page->payload[sizeof(SHOP) - 1] = 0;
        __atomic_store_n(&page->header.published_at_ns, ++stamp,
                         __ATOMIC_SEQ_CST);
        if (turn % 64 == 0)
            sched_yield();
    }
}

Test(reader_protocol, a_payload_is_never_a_mix_of_two_updates)
{
    const struct target target = target_start(restless);
    int read = 0;

    for (int i = 0; i < 30; i++) {
        const int status = RUN("--json", number(target.pid));

        cr_assert(status == 0 || status == 8, "%s", last.err);
        read += status == 0;
        cr_expect(status == 8 || strstr(last.out, "\"shop\"") ||
                  strstr(last.out, "\"cart\""));
    }
    cr_expect_gt(read, 0);
    target_end(&target);
}

static void payload_elsewhere(int ready, int commands)
{
    struct page *const page = publish_shop();
    char *const bytes = malloc(sizeof(CART));

    (void)commands;
    memcpy(bytes, CART, sizeof(CART));
    page->header.payload = (uintptr_t)bytes;
    say_ready(ready);
}

Test(reader_protocol, the_payload_may_be_in_another_mapping)
{
    EXPECT_STATUS(run_on(payload_elsewhere, "--"), 0);
    EXPECT_TEXT(last.out, "\"cart\"");
}
