/* SPDX-License-Identifier: Apache-2.0 */

/* Contexts that are broken, or made to break a reader. */

#include "tests/e2e/reader/reader_harness.h"

TestSuite(reader_hostile, .timeout = 600);

/* ---- header ------------------------------------------------------------- */

/* A header with this size and, unless it is 1, this payload pointer. */
static void payload_at(int ready, uint32_t size, uint64_t address)
{
    struct page *const page = publish_shop();

    page->header.payload_size = size;
    if (address != 1)
        page->header.payload = address;
    say_ready(ready);
}

static void null_pointer(int ready, int commands)
{
    (void)commands;
    payload_at(ready, 26, 0);
}

static void pointer_to_nowhere(int ready, int commands)
{
    (void)commands;
    payload_at(ready, 26, 0x1000);
}

static void pointer_to_the_kernel(int ready, int commands)
{
    (void)commands;
    payload_at(ready, 26, UINT64_MAX - 8);
}

static void size_zero(int ready, int commands)
{
    (void)commands;
    payload_at(ready, 0, 1);
}

static void size_65537(int ready, int commands)
{
    (void)commands;
    payload_at(ready, 65537, 1);
}

static void size_4_gib(int ready, int commands)
{
    (void)commands;
    payload_at(ready, UINT32_MAX, 1);
}

static void half_outside(int ready, int commands)
{
    char *const area = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)commands;
    munmap(area + PAGE, PAGE);
    payload_at(ready, 26, (uintptr_t)area + PAGE - 13);
}

Test(reader_hostile, a_null_payload_pointer_is_invalid)
{
    EXPECT_STATUS(run_on(null_pointer, "--"), 7);
    EXPECT_TEXT(last.err, "payload pointer is null");
}

Test(reader_hostile, a_payload_that_cannot_be_read_is_invalid)
{
    EXPECT_STATUS(run_on(pointer_to_nowhere, "--"), 7);
    EXPECT_TEXT(last.err, "payload (26 bytes at 0x1000) cannot be read");
    EXPECT_STATUS(run_on(pointer_to_the_kernel, "--"), 7);
    EXPECT_STATUS(run_on(half_outside, "--"), 7);
}

Test(reader_hostile, a_payload_size_out_of_bounds_is_invalid)
{
    EXPECT_STATUS(run_on(size_zero, "--"), 7);
    EXPECT_TEXT(last.err, "payload size is 0");
    EXPECT_STATUS(run_on(size_65537, "--"), 7);
    EXPECT_TEXT(last.err, "payload size is 65537 bytes, more than 65536");
    EXPECT_STATUS(run_on(size_4_gib, "--"), 7);
    EXPECT_STATUS(run_on(size_4_gib, "--raw"), 7);
    EXPECT_TEXT(last.out, "payload_size 4294967295\n");
}

static void biggest(int ready, int commands)
{
    /* An unknown field of 65532 bytes. */
    static const uint8_t bytes[OTELCTX_PAYLOAD_MAX] = {0x7a, 0xfc, 0xff, 0x03};
    struct page *const page = publish_shop();

    (void)commands;
    page->header.payload = (uintptr_t)bytes;
    page->header.payload_size = OTELCTX_PAYLOAD_MAX;
    say_ready(ready);
}

Test(reader_hostile, a_payload_of_65536_bytes_is_read)
{
    EXPECT_STATUS(run_on(biggest, "--"), 0);
    EXPECT_TEXT(last.out, "payload 65536 bytes");
}

/* ---- payload ------------------------------------------------------------ */

static void invalid_utf8(int ready, int commands)
{
    (void)commands;
    publish_shop()->payload[25] = 0xff;
    say_ready(ready);
}

static void cut_off(int ready, int commands)
{
    (void)commands;
    publish_shop()->header.payload_size = 20;
    say_ready(ready);
}

Test(reader_hostile, invalid_utf8_is_reported_with_attribute_and_byte)
{
    EXPECT_STATUS(run_on(invalid_utf8, "--json"), 7);
    EXPECT_TEXT(last.err, "payload byte 25: invalid UTF-8 (0xff) in a string "
                          "value, in resource attribute \"service.name\"\n");
    EXPECT_JSON(".[0].status == \"invalid_context\" and .[0].contexts == [] "
                "and (.[0].message | contains(\"payload byte 25\"))");
}

Test(reader_hostile, a_truncated_payload_is_reported_with_its_byte)
{
    EXPECT_STATUS(run_on(cut_off, "--raw"), 7);
    EXPECT_TEXT(last.err, "payload byte 1: length 24");
    EXPECT_TEXT(last.out, "^^ byte 1: ");
    EXPECT_TEXT(last.out, "key \"service.name\"");
}

static void twice(int ready, int commands)
{
    static const char bytes[] = "\x12\x04\x0a\x02k\n\x12\x04\x0a\x02k\n"
                                "\x12\x04\x0a\x02k\n";

    (void)commands;
    publish(map_page(OTELCTX_MAPPING_NAME), bytes, sizeof(bytes) - 1);
    say_ready(ready);
}

Test(reader_hostile, a_duplicate_key_is_shown_with_one_warning)
{
    EXPECT_STATUS(run_on(twice, "--json"), 0);
    EXPECT_JSON(".[0].contexts[0].extra_attributes | length == 3");
    EXPECT_TEXT(last.err, ": key \"k\\n\" appears more than once in the extra "
                          "attributes\n");
    cr_expect_eq(strchr(last.err, '\n')[1], '\0', "one line: %s", last.err);
}

/* ---- several contexts --------------------------------------------------- */

static void two_contexts(int ready, int commands)
{
    (void)commands;
    publish_shop();
    publish(map_page(OTELCTX_MAPPING_NAME), CART, sizeof(CART) - 1);
    say_ready(ready);
}

static void forty_contexts(int ready, int commands)
{
    (void)commands;
    for (int i = 0; i < 40; i++)
        publish_shop();
    say_ready(ready);
}

Test(reader_hostile, several_contexts_are_all_shown_and_are_a_failure)
{
    EXPECT_STATUS(run_on(two_contexts, "--"), 6);
    EXPECT_TEXT(last.out, "\"shop\"");
    EXPECT_TEXT(last.out, "\"cart\"");
    EXPECT_TEXT(last.err, "2 contexts, there must be only one");
    EXPECT_STATUS(run_on(two_contexts, "--json"), 6);
    EXPECT_JSON(".[0].status == \"several_contexts\" and "
                "([.[0].contexts[].resource.attributes[0].value.stringValue] | "
                "sort) == [\"cart\", \"shop\"]");
    EXPECT_STATUS(run_on(forty_contexts, "--json"), 6);
    EXPECT_JSON(".[0].contexts | length == 16");
    EXPECT_TEXT(last.err, "40 contexts");
}

/* ---- hostile text ------------------------------------------------------- */

static void escapes(int ready, int commands)
{
    static const char bytes[] = "\x12\x10\x0a\x05\x1b]0;x\x12\x07\x0a\x05\x1b"
                                "[2J\r";

    (void)commands;
    prctl(PR_SET_NAME, "\x1b[31m) R 1 (\xff");
    publish(map_page("OTEL_CTX\x1b[2J"), bytes, sizeof(bytes) - 1);
    say_ready(ready);
}

Test(reader_hostile, a_context_cannot_control_the_terminal)
{
    static const char *const options[] = {"--", "--raw", "--json"};

    for (size_t i = 0; i < 3; i++) {
        EXPECT_STATUS(run_on(escapes, options[i]), 0);
        cr_expect(!strpbrk(last.out, "\x1b\r\x7f\xff"), "%s", last.out);
    }
    EXPECT_JSON(".[0].command | startswith(\"\\u001b[31m) R 1 (\")");
}
