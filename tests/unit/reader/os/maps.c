/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/maps.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMFD                                                                  \
    "7f12a4c3e000-7f12a4c3f000 rw-p 00000000 00:01 1034       "                \
    "                /memfd:OTEL_CTX (deleted)\n"
#define MEMFD_NAME "/memfd:OTEL_CTX (deleted)\n"
#define LIBC                                                                   \
    "7f12a4a00000-7f12a4a26000 r--p 00000000 fe:00 1311       "                \
    "                /usr/lib/libc.so.6\n"

/* A text that is read in pieces. */
struct source {
    const char *text;
    size_t size;
    size_t piece;
    int error; /* at the end */
};

static ssize_t source_read(void *opaque, void *out, size_t size)
{
    struct source *const source = opaque;
    size_t take = source->piece < size ? source->piece : size;

    if (take > source->size)
        take = source->size;
    if (take == 0)
        return source->error;
    memcpy(out, source->text, take);
    source->text += take;
    source->size -= take;
    return (ssize_t)take;
}

/* The number of mappings in the text, and the last one. */
static int parse(const char *text, size_t piece, struct otelread_mapping *last)
{
    struct source source = {text, strlen(text), piece, 0};
    struct otelread_maps maps = {.read = source_read, .source = &source};
    int count = 0;
    int result;

    memset(last, 0, sizeof(*last));
    while ((result = otelread_maps_next(&maps, last)) > 0)
        count++;
    cr_assert_eq(result, 0);
    return count;
}

static int count(const char *text)
{
    struct otelread_mapping mapping;

    return parse(text, 4096, &mapping);
}

Test(reader_maps, a_memfd_mapping_is_found_with_all_its_facts)
{
    struct otelread_mapping mapping;

    cr_expect_eq(parse(LIBC MEMFD LIBC, 4096, &mapping), 1);
    cr_expect_eq(mapping.start, 0x7f12a4c3e000);
    cr_expect_eq(mapping.end, 0x7f12a4c3f000);
    cr_expect_str_eq(mapping.permissions, "rw-p");
    cr_expect_str_eq(mapping.name, "/memfd:OTEL_CTX (deleted)");
}

Test(reader_maps, every_name_of_the_reading_protocol_is_found)
{
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0   [anon:OTEL_CTX]\n"), 1);
    cr_expect_eq(count("1000-2000 rw-s 0 00:01 9   [anon_shmem:OTEL_CTX]\n"),
                 1);
    cr_expect_eq(count("1000-2000 r--p 0 00:01 9   /memfd:OTEL_CTX\n"), 1);
    cr_expect_eq(count("1000-2000 r--p 0 00:01 9   /memfd:OTEL_CTX (deleted)"),
                 1, "the last line may lack its newline");
}

Test(reader_maps, a_mapping_whose_name_is_longer_is_found)
{
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0 /memfd:OTEL_CTX_v3\n"), 1);
}

Test(reader_maps, other_names_are_skipped)
{
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0\n"), 0);
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0 \n"), 0);
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0 [heap]\n"), 0);
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0 [anon:OTEL_CTX\n"), 0);
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0 [anon:DD_OTEL_CTX]\n"), 0);
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0 memfd:OTEL_CTX\n"), 0);
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0 /x/memfd:OTEL_CTX\n"), 0);
    cr_expect_eq(count("1000-2000 rw-p 0 00:00 0 /memfd:OTEL_CT"), 0);
}

Test(reader_maps, the_text_may_come_in_pieces_of_any_size)
{
    struct otelread_mapping mapping;

    for (size_t piece = 1; piece < 300; piece++) {
        cr_assert_eq(parse(LIBC MEMFD LIBC MEMFD, piece, &mapping), 2);
        cr_assert_eq(mapping.end, 0x7f12a4c3f000);
        cr_assert_str_eq(mapping.name, "/memfd:OTEL_CTX (deleted)");
    }
}

Test(reader_maps, a_long_name_is_cut_and_the_next_line_is_not_lost)
{
    static char text[40000];
    struct otelread_mapping mapping;
    int at = snprintf(text, sizeof(text),
                      "1000-2000 rw-p 0 00:00 0 /memfd:OTEL_CTX");

    memset(text + at, 'x', 20000);
    memcpy(text + at + 20000, "\n" MEMFD, sizeof("\n" MEMFD));
    cr_expect_eq(parse(text, 4096, &mapping), 2);
    cr_expect_eq(mapping.start, 0x7f12a4c3e000);

    text[at + 20000] = '\0';
    cr_expect_eq(parse(text, 4096, &mapping), 1);
    cr_expect_eq(strlen(mapping.name), sizeof(mapping.name) - 1);
}

Test(reader_maps, a_path_with_the_name_far_in_a_long_line_is_no_context)
{
    static char text[40000];
    const int at = snprintf(text, sizeof(text), "1000-2000 rw-p 0 00:00 0 /");

    memset(text + at, 'y', 30000);
    memcpy(text + at + 8000, MEMFD_NAME LIBC, sizeof(MEMFD_NAME LIBC));
    cr_expect_eq(count(text), 0);
}

Test(reader_maps, a_hundred_thousand_lines_are_read_in_bounded_memory)
{
    enum {
        LINES = 100000
    };
    char *const text = malloc(LINES * (sizeof(LIBC) - 1) + sizeof(MEMFD));

    cr_assert_not_null(text);
    for (size_t i = 0; i < LINES; i++)
        memcpy(text + i * (sizeof(LIBC) - 1), LIBC, sizeof(LIBC));
    memcpy(text + LINES * (sizeof(LIBC) - 1), MEMFD, sizeof(MEMFD));
    cr_expect_eq(count(text), 1);
    free(text);
}

Test(reader_maps, lines_that_the_kernel_would_not_write_are_skipped)
{
    cr_expect_eq(count("-2000 rw-p 0 00:00 0 /memfd:OTEL_CTX\n"), 0);
    cr_expect_eq(count("1000 rw-p 0 00:00 0 /memfd:OTEL_CTX\n"), 0);
    cr_expect_eq(count("2000-1000 rw-p 0 00:00 0 /memfd:OTEL_CTX\n"), 0);
    cr_expect_eq(count("1000-1000 rw-p 0 00:00 0 /memfd:OTEL_CTX\n"), 0);
    cr_expect_eq(count("1000-2000 rwzp 0 00:00 0 /memfd:OTEL_CTX\n"), 0);
    cr_expect_eq(count("1000-2000 rw-p0 00:00 0 /memfd:OTEL_CTX\n"), 0);
    cr_expect_eq(count("1000-20000000000000000 rw-p 0 0 0 /memfd:OTEL_CTX\n"),
                 0);
    cr_expect_eq(count("\n\n \n/memfd:OTEL_CTX\n" MEMFD), 1);
}

/* The first mapping in the text, and the number of mappings. */
static int lines(const char *text, size_t piece,
                 struct otelread_maps_line *first)
{
    static struct otelread_maps maps;
    static char name[OTELREAD_LINE_SIZE];
    struct source source = {text, strlen(text), piece, 0};
    struct otelread_maps_line line;
    int count = 0;
    int result;

    maps = (struct otelread_maps){.read = source_read, .source = &source};
    while ((result = otelread_maps_next_line(&maps, &line)) > 0) {
        if (count++ > 0)
            continue;
        memcpy(name, line.name, line.name_size);
        *first = line;
        first->name = name;
    }
    cr_assert_eq(result, 0);
    return count;
}

Test(reader_maps, without_a_filter_every_mapping_is_found)
{
    static const char libc[] = "/usr/lib/libc.so.6";
    struct otelread_maps_line line;

    for (size_t piece = 1; piece < 300; piece++) {
        cr_assert_eq(
            lines("7f12a4a00000-7f12a4a26000 r-xp 0001f000 fe:00 1311   "
                  "            /usr/lib/libc.so.6\n" MEMFD LIBC,
                  piece, &line),
            3);
        cr_assert_eq(line.start, 0x7f12a4a00000);
        cr_assert_eq(line.end, 0x7f12a4a26000);
        cr_assert_eq(line.offset, 0x1f000);
        cr_assert_str_eq(line.permissions, "r-xp");
        cr_assert_eq(line.name_size, sizeof(libc) - 1);
        cr_assert_arr_eq(line.name, libc, sizeof(libc) - 1);
    }
}

Test(reader_maps, a_mapping_may_have_no_name_or_one_with_blanks)
{
    struct otelread_maps_line line;

    cr_assert_eq(lines("1000-2000 rw-p 00000000 00:00 0 \n" LIBC, 4096, &line),
                 2);
    cr_expect_eq(line.name_size, 0);
    cr_assert_eq(lines("1000-2000 rw-p 00000000 00:00 0\n", 4096, &line), 1);
    cr_expect_eq(line.name_size, 0);
    cr_assert_eq(lines("1000-2000 rw-p 0 fe:00 7  /a b  c\n", 4096, &line), 1);
    cr_expect_eq(line.name_size, 7);
    cr_expect_arr_eq(line.name, "/a b  c", 7);
}

Test(reader_maps, a_path_is_not_cut)
{
    static char text[5000];
    struct otelread_maps_line line;
    int at = snprintf(text, sizeof(text),
                      "7f12a4a00000-7f12a4a26000 r--p 00000000 fe:00 1311   "
                      "                   ");

    memset(text + at, '/', 4095);
    text[at + 4095] = '\n';
    cr_assert_eq(lines(text, 1000, &line), 1);
    cr_expect_eq(line.name_size, 4095);
}

Test(reader_maps, lines_without_an_offset_or_an_inode_are_skipped)
{
    struct otelread_maps_line line;

    cr_expect_eq(lines("1000-2000 rw-p x 00:00 0 /a\n", 4096, &line), 0);
    cr_expect_eq(lines("1000-2000 rw-p 0\n", 4096, &line), 0);
    cr_expect_eq(lines("1000-2000 rw-p 0 00:00\n", 4096, &line), 0);
    cr_expect_eq(lines("1000-2000 rw-p 0 00:00 \n", 4096, &line), 0);
}

Test(reader_maps, a_failure_to_read_is_returned)
{
    struct source source = {LIBC, sizeof(LIBC) - 1, 100, -ESRCH};
    struct otelread_maps maps = {.read = source_read, .source = &source};
    struct otelread_mapping mapping;

    cr_expect_eq(otelread_maps_next(&maps, &mapping), -ESRCH);
}
