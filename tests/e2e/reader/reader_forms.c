/* SPDX-License-Identifier: Apache-2.0 */

/* What no scenario of the kit publishes: scenarios.sh has what is said of
 * those. */

#include "tests/e2e/reader/reader_harness.h"

TestSuite(reader_forms, .timeout = 600);

static void one_of_each(int ready, int commands)
{
    (void)commands;
    memcpy(publish_shop()->header.signature, "garbage!", 8);
    publish_shop();
    publish_shop()->header.version = 1;
    say_ready(ready);
}

Test(reader_forms, mappings_that_fail_the_checks_are_skipped)
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

Test(reader_forms, a_draft_format_is_named_and_decoded)
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

Test(reader_forms, the_accepted_format_is_checked_by_its_own_rules)
{
    EXPECT_STATUS(run_on(bare, "--"), 7);
    EXPECT_STATUS(run_on(packed_by_chance, "--json"), 7);
    EXPECT_TEXT(last.out, "the payload size is ");
}

/* ---- hostile contexts --------------------------------------------------- */

static void twice(int ready, int commands)
{
    static const char bytes[] = "\x12\x04\x0a\x02k\n\x12\x04\x0a\x02k\n"
                                "\x12\x04\x0a\x02k\n";

    (void)commands;
    publish(map_page(OTELCTX_MAPPING_NAME), bytes, sizeof(bytes) - 1);
    say_ready(ready);
}

Test(reader_forms, a_duplicate_key_is_shown_with_one_warning)
{
    EXPECT_STATUS(run_on(twice, "--json"), 0);
    EXPECT_JSON(".[0].contexts[0].extra_attributes | length == 3");
    EXPECT_TEXT(last.err, ": key \"k\\n\" appears more than once in the extra "
                          "attributes\n");
    cr_expect_eq(strchr(last.err, '\n')[1], '\0', "one line: %s", last.err);
}

static void forty_contexts(int ready, int commands)
{
    (void)commands;
    for (int i = 0; i < 40; i++)
        publish_shop();
    say_ready(ready);
}

Test(reader_forms, of_very_many_contexts_sixteen_are_shown)
{
    EXPECT_STATUS(run_on(forty_contexts, "--json"), 6);
    EXPECT_JSON(".[0].contexts | length == 16");
    EXPECT_TEXT(last.err, "40 contexts");
}

static void escapes(int ready, int commands)
{
    static const char bytes[] = "\x12\x10\x0a\x05\x1b]0;x\x12\x07\x0a\x05\x1b"
                                "[2J\r";

    (void)commands;
    prctl(PR_SET_NAME, "\x1b[31m) R 1 (\xff");
    publish(map_page("OTEL_CTX\x1b[2J"), bytes, sizeof(bytes) - 1);
    say_ready(ready);
}

Test(reader_forms, a_context_cannot_control_the_terminal)
{
    static const char *const options[] = {"--", "--raw", "--json"};

    for (size_t i = 0; i < 3; i++) {
        EXPECT_STATUS(run_on(escapes, options[i]), 0);
        cr_expect(!strpbrk(last.out, "\x1b\r\x7f\xff"), "%s", last.out);
    }
    EXPECT_JSON(".[0].command | startswith(\"\\u001b[31m) R 1 (\")");
}
