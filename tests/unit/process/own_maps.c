/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/own_maps.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/wire/process.h"
#include "tests/support/filter.h"

enum {
    SCRATCH = 2048 /* as rival.c has it */
};

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* A header that readers take; its payload is in the header's page. */
static struct otelctx_header *map_context(const char *name)
{
    const int fd = memfd_create(name, MFD_CLOEXEC);
    struct otelctx_header *header;

    cr_assert_geq(fd, 0);
    cr_assert_eq(ftruncate(fd, (off_t)page()), 0);
    header = mmap(NULL, page(), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    cr_assert_neq(header, MAP_FAILED);
    (void)close(fd);
    memcpy(header->signature, OTELCTX_SIGNATURE, OTELCTX_SIGNATURE_SIZE);
    header->version = OTELCTX_HEADER_VERSION;
    header->payload_size = 2;
    header->payload = (uintptr_t)(header + 1);
    header->published_at_ns = 1;
    return header;
}

static struct otelctx_own_maps look_with(const void *ours, size_t size)
{
    static char scratch[SCRATCH];
    struct otelctx_own_maps maps;

    memset(&maps, 0xaa, sizeof(maps));
    otelctx_own_maps_look(ours, scratch, size, &maps);
    return maps;
}

static struct otelctx_own_maps look(const void *ours)
{
    return look_with(ours, SCRATCH);
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

Test(own_maps, tell_of_no_context_where_there_is_none)
{
    const struct otelctx_own_maps maps = look(NULL);

    cr_expect_null(maps.other);
    cr_expect_not(maps.has_ours);
    cr_expect(maps.is_whole);
}

Test(own_maps, tell_where_another_context_is)
{
    const void *const other = map_context(OTELCTX_MAPPING_NAME);

    cr_expect_eq(look(NULL).other, other);
    cr_expect_not(look(NULL).has_ours);
}

Test(own_maps, are_read_no_further_than_another_context)
{
    (void)map_context(OTELCTX_MAPPING_NAME); /* before the libraries */

    cr_expect_not(look_with(NULL, 256).is_whole);
}

Test(own_maps, tell_that_ours_has_its_name)
{
    const struct otelctx_own_maps maps =
        look(map_context(OTELCTX_MAPPING_NAME));

    cr_expect_null(maps.other);
    cr_expect(maps.has_ours);
    cr_expect(maps.is_whole);
}

Test(own_maps, tell_one_context_from_the_other)
{
    const void *const a = map_context(OTELCTX_MAPPING_NAME);
    const void *const b = map_context(OTELCTX_MAPPING_NAME);

    cr_expect_eq(look(a).other, b);
    cr_expect_eq(look(b).other, a);
}

Test(own_maps, tell_nothing_of_ours_without_the_name)
{
    const struct otelctx_own_maps maps = look(map_context("another"));

    cr_expect_not(maps.has_ours);
    cr_expect(maps.is_whole);
}

Test(own_maps, tell_nothing_of_names_that_only_look_alike)
{
    static const char *const names[] = {OTELCTX_MAPPING_NAME "2",
                                        "X" OTELCTX_MAPPING_NAME, "OTEL_CT",
                                        "otel_ctx", OTELCTX_MAPPING_NAME " "};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)map_context(names[i]);

    cr_expect_null(look(NULL).other);
}

/* A name alone is no context: OTEP 4719, "Reading Protocol". */
Test(own_maps, tell_nothing_of_what_no_reader_takes)
{
    map_context(OTELCTX_MAPPING_NAME)->signature[0] = 'X';
    map_context(OTELCTX_MAPPING_NAME)->version = 1;
    map_context(OTELCTX_MAPPING_NAME)->published_at_ns = 0;
    map_context(OTELCTX_MAPPING_NAME)->payload_size = 0;
    map_context(OTELCTX_MAPPING_NAME)->payload_size = OTELCTX_PAYLOAD_MAX + 1;
    map_context(OTELCTX_MAPPING_NAME)->payload = 8;

    cr_expect_null(look(NULL).other);
    cr_expect(look(NULL).is_whole);
}

Test(own_maps, tell_of_a_context_beside_strays)
{
    const void *other;

    map_context(OTELCTX_MAPPING_NAME)->version = 1;
    other = map_context(OTELCTX_MAPPING_NAME);
    map_context(OTELCTX_MAPPING_NAME)->version = 1;

    cr_expect_eq(look(NULL).other, other);
}

/* Wherever one piece of the file ends and the next one begins. */
Test(own_maps, are_read_in_pieces_of_any_size)
{
    const void *const ours = map_context(OTELCTX_MAPPING_NAME);

    for (size_t size = 128; size <= SCRATCH; size++) {
        const struct otelctx_own_maps maps = look_with(ours, size);

        cr_assert(maps.has_ours && maps.is_whole, "%zu bytes", size);
        cr_assert_null(maps.other, "%zu bytes", size);
    }
}

Test(own_maps, hide_nothing_behind_a_line_that_is_too_long)
{
    const void *const other = map_context(OTELCTX_MAPPING_NAME);
    char name[250];
    const void *above;

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    above = map_context(name);
    cr_assert_lt(above, other, "the kernel maps downwards");

    cr_expect_eq(look_with(NULL, 128).other, other);
}

/* As many mappings as take a MiB to tell, below all that were there. */
static void fill_the_file(void)
{
    const size_t count = 5000;
    char name[250], *at;
    int fd;

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    fd = memfd_create(name, MFD_CLOEXEC);
    cr_assert_eq(ftruncate(fd, (off_t)page()), 0);
    at = mmap(NULL, count * page(), PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert_neq(at, MAP_FAILED);
    for (size_t i = 0; i < count; i++)
        cr_assert_neq(mmap(at + i * page(), page(), PROT_READ,
                           MAP_PRIVATE | MAP_FIXED, fd, 0),
                      MAP_FAILED);
    (void)close(fd);
}

Test(own_maps, are_not_whole_when_they_are_longer_than_a_mib)
{
    const void *const ours = map_context(OTELCTX_MAPPING_NAME);

    fill_the_file();

    cr_expect_not(look(ours).is_whole);
    cr_expect_not(look(ours).has_ours);
    cr_expect_null(look(NULL).other);
}

Test(own_maps, tell_nothing_when_they_cannot_be_opened)
{
    const void *const ours = map_context(OTELCTX_MAPPING_NAME);
    struct rlimit limit;
    struct otelctx_own_maps maps;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 0;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    maps = look(ours);
    limit.rlim_cur = limit.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);

    cr_expect_null(maps.other);
    cr_expect_not(maps.has_ours);
    cr_expect_not(maps.is_whole);
}

Test(own_maps, are_not_whole_when_they_cannot_be_read)
{
    const void *const ours = map_context(OTELCTX_MAPPING_NAME);

    struct otelctx_own_maps maps;
    int status;
    const pid_t pid = fork(); /* Criterion itself has to read */

    if (pid == 0) {
        if (filter_call(SYS_read, SECCOMP_RET_ERRNO | EIO))
            _exit(2);
        maps = look(ours);
        _exit(maps.is_whole || maps.has_ours);
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect_eq(status, 0);
}

Test(own_maps, are_closed_after_each_look)
{
    const unsigned before = descriptors();

    (void)look(NULL);
    (void)map_context(OTELCTX_MAPPING_NAME);
    (void)look(NULL);

    cr_expect_eq(descriptors(), before);
}
