/* SPDX-License-Identifier: Apache-2.0 */
#include "tls_image_module.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORD 0x1122334455667788

static void *read_word(void *module)
{
    const uint64_t word = ((const struct image_module *)module)->get();

    return (void *)(uintptr_t)word;
}

/* The value of the word in a new thread. */
static uint64_t of_later_threads(const struct image_module *module)
{
    pthread_t thread;
    void *word;

    cr_assert_eq(
        pthread_create(&thread, NULL, read_word, (void *)(uintptr_t)module), 0);
    cr_assert_eq(pthread_join(thread, &word), 0);
    return (uintptr_t)word;
}

static int set(const struct image_module *module)
{
    return module->set(WORD, (size_t)getpagesize());
}

struct search {
    const char *file;
    uintptr_t image;
};

static int look_at_object(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *const s = data;

    (void)size;
    if (strstr(object->dlpi_name, s->file))
        for (unsigned i = 0; i < object->dlpi_phnum; i++)
            if (object->dlpi_phdr[i].p_type == PT_TLS)
                s->image = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    return 0;
}

/* Compare the image's permissions in /proc/self/maps: "r--p" or "rw-p". */
static void expect_access(const char *file, const char *expected)
{
    struct search s = {.file = file};
    char line[512], access[8] = "";
    unsigned long from, to;
    FILE *maps;

    (void)dl_iterate_phdr(look_at_object, &s);
    cr_assert(s.image, "%s has no TLS", file);
    maps = fopen("/proc/self/maps", "r");
    cr_assert(maps);
    while (fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 &&
            from <= s.image && s.image < to)
            break;
    (void)fclose(maps);
    cr_expect_str_eq(access, expected, "%s: %s", file, access);
}

Test(image, is_what_later_threads_begin_with)
{
    cr_expect_eq(of_later_threads(&image_relro), 0);
    cr_expect_eq(set(&image_relro), 0);
    cr_expect_eq(of_later_threads(&image_relro), WORD);
    cr_expect_eq(of_later_threads(&image_relro), WORD);
    cr_expect_eq(of_later_threads(&image_norelro), 0, "another object's");
}

Test(image, changes_nothing_for_this_thread)
{
    cr_expect_eq(image_relro.get(), 0);
    cr_expect_eq(set(&image_relro), 0);
    cr_expect_eq(image_relro.get(), 0);
}

Test(image, is_as_read_only_afterwards_as_before)
{
    expect_access("image_relro", "r--p");
    cr_expect_eq(set(&image_relro), 0);
    expect_access("image_relro", "r--p");
}

Test(image, may_be_writable_as_it_is)
{
    expect_access("image_norelro", "rw-p");
    cr_expect_eq(set(&image_norelro), 0);
    cr_expect_eq(of_later_threads(&image_norelro), WORD);
    expect_access("image_norelro", "rw-p");
}

Test(image, of_more_than_one_word_is_left_alone)
{
    cr_expect_eq(set(&image_words), -ENOEXEC);
    cr_expect_eq(of_later_threads(&image_words), 0);
}

/* With page size 1, mprotect gets an unaligned address and refuses it. */
Test(image, that_cannot_be_made_writable_is_left_alone)
{
    cr_expect_eq(image_relro.set(WORD, 1), -EINVAL);
    cr_expect_eq(of_later_threads(&image_relro), 0);
    expect_access("image_relro", "r--p");
}
