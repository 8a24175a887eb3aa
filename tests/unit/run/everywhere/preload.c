/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/everywhere/preload.h"

#include <criterion/criterion.h>
#include <string.h>

#define OURS "/o/libotelctx_preload.so"

static struct otelrun_preload preload_of(const char *text)
{
    struct otelrun_preload p = {.size = strlen(text)};

    memcpy(p.text, text, p.size);
    return p;
}

/* What is left of a text without our entries. */
static const char *removed(const char *text)
{
    static struct otelrun_preload p;

    p = preload_of(text);
    cr_expect_gt(otelrun_preload_remove(&p), 0);
    p.text[p.size] = '\0';
    return p.text;
}

static const char *added(const char *text)
{
    static struct otelrun_preload p;

    p = preload_of(text);
    cr_expect(otelrun_preload_add(&p, OURS));
    p.text[p.size] = '\0';
    return p.text;
}

static bool names(const char *text)
{
    const struct otelrun_preload p = preload_of(text);

    return otelrun_preload_names(&p, OURS);
}

Test(preload, a_line_of_ours_goes_as_a_whole)
{
    cr_expect_str_eq(removed(OURS "\n"), "");
    cr_expect_str_eq(removed(OURS), "");
    cr_expect_str_eq(removed("/a.so\n " OURS " \n/b.so\n"), "/a.so\n/b.so\n");
    cr_expect_str_eq(removed("/a.so\n" OURS "\nlibotelctx_preload.so\n"),
                     "/a.so\n");
}

Test(preload, of_another_line_only_the_entry_goes)
{
    cr_expect_str_eq(removed("/a.so " OURS ":/b.so\n"), "/a.so /b.so\n");
    cr_expect_str_eq(removed(OURS " /b.so\n"), "/b.so\n");
    cr_expect_str_eq(removed("/a.so " OURS "\n/b.so"), "/a.so\n/b.so");
    cr_expect_str_eq(removed(OURS " # ours\n"), "# ours\n");
    cr_expect_str_eq(removed(OURS "# ours\n"), "# ours\n");
    cr_expect_str_eq(removed("/a.so " OURS ":" OURS), "/a.so");
}

Test(preload, others_and_comments_stay)
{
    static const char *const texts[] = {
        "",
        "\n",
        "# " OURS "\n",
        "/a.so#" OURS,
        "/o/my_libotelctx_preload.so " OURS ".1 /o/x\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct otelrun_preload p = preload_of(texts[i]);

        cr_expect_eq(otelrun_preload_remove(&p), 0, "%s", texts[i]);
        cr_expect_eq(p.size, strlen(texts[i]));
    }
}

Test(preload, a_new_line_comes_last)
{
    cr_expect_str_eq(added(""), OURS "\n");
    cr_expect_str_eq(added("/a.so\n"), "/a.so\n" OURS "\n");
    cr_expect_str_eq(added("# a"), "# a\n" OURS "\n");
}

Test(preload, it_is_named_once_and_by_that_path)
{
    cr_expect(names("/a.so:" OURS "#"));
    cr_expect_not(names(""));
    cr_expect_not(names("#" OURS));
    cr_expect_not(names("/x" OURS));
    cr_expect_not(names(OURS "\nlibotelctx_preload.so\n"));
    cr_expect_not(names(OURS " " OURS));
}

Test(preload, a_full_text_has_no_room)
{
    static struct otelrun_preload p;

    memset(p.text, '\n', sizeof(p.text));
    p.size = sizeof(p.text) - strlen(OURS) - 1;
    cr_expect(otelrun_preload_add(&p, OURS));
    p.size = sizeof(p.text) - strlen(OURS);
    cr_expect_not(otelrun_preload_add(&p, OURS));
}
