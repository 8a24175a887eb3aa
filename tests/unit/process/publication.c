/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/publication.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/support/filter.h"

static struct otelctx_publication context;

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static const struct otelctx_header *header(void)
{
    return (const void *)context.mapping.at;
}

/* Publish size bytes of `fill` at a time of our choice; the timestamp. */
static uint64_t publish(size_t size, int fill, uint64_t now_ns)
{
    struct otelctx_failure failure;
    uint8_t *room;

    cr_assert_eq(
        otelctx_publication_room(&context, size, page(), &room, &failure), 0);
    memset(room, fill, size);
    otelctx_publication_commit(&context, room, size, now_ns);
    cr_assert_eq(otelctx_publication_name(&context, &failure), 0);
    return header()->published_at_ns;
}

static uint64_t publish_at(uint64_t now_ns)
{
    return publish(10, 'x', now_ns);
}

static const uint8_t *payload(void)
{
    return (const void *)(uintptr_t)header()->payload;
}

/* How many lines of /proc/self/NAME hold `text`; the last is left in line. */
static unsigned lines_with(const char *name, const char *text, char line[512])
{
    char path[64], next[512];
    unsigned count = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/%s", name);
    file = fopen(path, "r");
    cr_assert(file);
    while (fgets(next, sizeof(next), file))
        if (strstr(next, text)) {
            memcpy(line, next, sizeof(next));
            count++;
        }
    fclose(file);
    return count;
}

static unsigned mappings(void)
{
    char line[512];

    return lines_with("maps", "OTEL_CTX", line);
}

static unsigned descriptors(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");

    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* OTEP 4719, "Publication Protocol". */

Test(publication, step_1_a_previous_context_is_updated_in_place)
{
    const struct otelctx_header *first;

    publish_at(1);
    first = header();
    publish_at(2);

    cr_expect_eq(header(), first);
    cr_expect_eq(mappings(), 1);
}

Test(publication, step_3_the_mapping_is_one_private_page_read_write)
{
    char line[512], perms[5];
    unsigned long start, end;

    publish_at(1);

    cr_assert_eq(lines_with("maps", "/memfd:OTEL_CTX (deleted)", line), 1);
    cr_assert_eq(sscanf(line, "%lx-%lx %4s", &start, &end, perms), 3);
    cr_expect_str_eq(perms, "rw-p");
    cr_expect_eq(end - start, page());
    cr_expect_eq(start, (uintptr_t)header());
}

Test(publication, step_3_the_memfd_is_closed)
{
    const unsigned before = descriptors();

    publish_at(1);

    cr_expect_eq(descriptors(), before);
}

/* "dc" in VmFlags is MADV_DONTFORK; see proc_pid_smaps(5). */
static bool fork_passes_on(const void *start)
{
    char command[128];

    snprintf(command, sizeof(command),
             "sed -n '/^%lx-/,/^VmFlags/p' /proc/%d/smaps |"
             "grep -q '^VmFlags:.* dc '",
             (unsigned long)(uintptr_t)start, getpid());
    return system(command) != 0;
}

Test(publication, step_5_fork_does_not_pass_the_mapping_on)
{
    publish_at(1);

    cr_expect_not(fork_passes_on(header()));
}

Test(publication, step_5_fork_does_not_pass_long_payloads_on)
{
    publish(65536, 'x', 1);

    cr_expect_not(fork_passes_on(payload()));
}

Test(publication, step_7_the_header_has_all_its_fields)
{
    publish(10, 'x', 1234);

    cr_expect_arr_eq(header()->signature, "OTEL_CTX", 8);
    cr_expect_eq(header()->version, 2);
    cr_expect_eq(header()->payload_size, 10);
    cr_expect_eq(header()->published_at_ns, 1234);
    cr_expect_arr_eq(payload(), "xxxxxxxxxx", 10);
}

Test(publication, the_header_is_at_the_start_of_its_page)
{
    publish_at(1);

    cr_expect_eq((uintptr_t)header() % page(), 0);
}

/* Where the name was, at the system call that has it. */
static uintptr_t name_at;

static void note_name(int number, siginfo_t *info, void *interrupted)
{
    const mcontext_t *const registers =
        &((const ucontext_t *)interrupted)->uc_mcontext;

    (void)number;
    (void)info;
#if defined(__x86_64__)
    name_at = (uintptr_t)registers->gregs[REG_R8];
#else
    name_at = (uintptr_t)registers->regs[4];
#endif
    if (strcmp((const char *)name_at, "OTEL_CTX") != 0)
        name_at = 0;
}

/* The linker's: where this program is, which has the code under test. */
extern const char __executable_start[], end[];

Test(publication, step_10_the_name_is_not_in_the_file_but_where_a_hook_reads_it)
{
    const struct sigaction action = {.sa_sigaction = note_name,
                                     .sa_flags = SA_SIGINFO};

    sigaction(SIGSYS, &action, NULL);
    cr_assert_eq(filter_call(SYS_prctl, SECCOMP_RET_TRAP), 0);
    publish_at(100);
    cr_assert_neq(name_at, 0);
    cr_expect_not(name_at >= (uintptr_t)__executable_start &&
                  name_at < (uintptr_t)end);
}

Test(publication, a_clock_that_tells_nothing_still_gives_a_timestamp)
{
    cr_expect_eq(publish_at(0), 1);
}

/* OTEP 4719, "Updating Protocol". */

Test(update, step_1_the_new_payload_is_elsewhere_than_the_old_one)
{
    /* Lengths of both areas of the page, and of those outside, in turn. */
    const size_t sizes[] = {1, 2000, 65536, 3000, 40, 65536, 10, 10};
    const uint8_t *old = NULL;
    size_t old_size = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        publish(sizes[i], 'a' + (int)i, i + 1);
        cr_expect(i == 0 || payload() >= old + old_size ||
                      payload() + sizes[i] <= old,
                  "payload %zu overlaps the one before", i);
        old = payload();
        old_size = sizes[i];
    }
}

Test(update, step_1_the_old_payload_keeps_its_bytes)
{
    const size_t sizes[] = {100, 2032, 65536, 1};
    uint8_t copy[65536];

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const uint8_t *old;

        publish(sizes[i], 'a', 2 * i + 1);
        old = payload();
        memset(copy, 'a', sizes[i]);
        publish(sizes[(i + 1) % 4], 'b', 2 * i + 2);
        cr_expect_arr_eq(old, copy, sizes[i]);
    }
}

Test(update, step_1_the_two_areas_of_the_page_do_not_overlap)
{
    uint8_t copy[2032];

    memset(copy, 'a', sizeof(copy));
    for (uint64_t i = 0; i < 2; i++) { /* once from each area to the other */
        const uint8_t *old;

        publish(sizeof(copy), 'a', 3 * i + 1);
        old = payload();
        publish(sizeof(copy), 'b', 3 * i + 2);
        cr_expect_arr_eq(old, copy, sizeof(copy));
        publish(1, 'c', 3 * i + 3);
    }
}

Test(update, step_6_the_timestamp_moves_forward_even_when_the_clock_does_not)
{
    const uint64_t first = publish_at(100);

    cr_expect_eq(publish_at(100), first + 1);
    cr_expect_eq(publish_at(50), first + 2);
    cr_expect_eq(publish_at(1000), 1000);
}

Test(update, the_timestamp_moves_forward_across_a_drop)
{
    const uint64_t first = publish_at(100);

    otelctx_publication_drop(&context);

    cr_expect_eq(publish_at(100), first + 1);
}

/* Payloads of any length that a reader takes. */

Test(payload_area, takes_from_one_byte_to_65536)
{
    for (size_t size = 1; size <= 65536; size += size < 5000 ? 1 : 4999) {
        publish(size, 'x', size);
        cr_assert_eq(header()->payload_size, size);
        cr_assert_eq(payload()[0], 'x');
        cr_assert_eq(payload()[size - 1], 'x');
    }
    publish(65536, 'y', 70000);
    cr_expect_eq(payload()[65535], 'y');
    cr_expect_eq(mappings(), 1);
}

Test(payload_area, short_ones_are_in_the_page_and_long_ones_are_not)
{
    publish(2032, 'x', 1);
    cr_expect_eq((uintptr_t)payload() / page(), (uintptr_t)header() / page());
    publish(2033, 'x', 2);
    cr_expect_neq((uintptr_t)payload() / page(), (uintptr_t)header() / page());
}

Test(payload_area, a_long_one_stays_readable_for_readers_of_an_old_pointer)
{
    const uint8_t *old;

    publish(65536, 'x', 1);
    old = payload();
    publish(10, 'y', 2);
    publish(10, 'z', 3);
    otelctx_publication_drop(&context);

    cr_expect_eq(old[65535], 'x');
}

Test(payload_area, a_drop_does_not_change_whose_turn_it_is)
{
    const uint8_t *old;

    publish(65536, 'x', 1);
    old = payload();
    otelctx_publication_drop(&context);
    publish(65536, 'y', 2);

    cr_expect_eq(old[65535], 'x');
}

/* Withdrawal. */

Test(drop, leaves_no_mapping)
{
    publish_at(1);
    otelctx_publication_drop(&context);

    cr_expect_eq(mappings(), 0);
    cr_expect_null(context.mapping.at);
}

Test(drop, of_nothing_is_nothing)
{
    otelctx_publication_drop(&context);

    cr_expect_eq(mappings(), 0);
}

Test(drop, is_followed_by_a_publication_of_its_own)
{
    publish_at(1);
    otelctx_publication_drop(&context);
    publish(20, 'n', 2);

    cr_expect_eq(mappings(), 1);
    cr_expect_eq(header()->payload_size, 20);
    cr_expect_arr_eq(header()->signature, "OTEL_CTX", 8);
}
