/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/screen/view.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct oteltop_view view;

static void begin(void)
{
    view = (struct oteltop_view){.order = OTELTOP_CPU, .scroll = 50};
    cr_assert_eq(oteltop_dimensions_parse(&view.by, "service"), 0);
}

static void end(void)
{
    oteltop_dimensions_free(&view.by);
}

TestSuite(view, .init = begin, .fini = end);

/* What comes in one go. */
static void type(const char *keys)
{
    for (; *keys != '\0'; keys++)
        oteltop_view_key(&view, *keys);
    oteltop_view_pause(&view);
}

Test(view, keys_switch_on_and_off)
{
    type("f");
    cr_expect(view.is_frozen);
    type(" ");
    cr_expect_not(view.is_frozen);
    type("w");
    cr_expect(view.wants_wall);
    type("w");
    cr_expect_not(view.wants_wall);
    type("h");
    cr_expect(view.wants_help);
    type("b");
    cr_expect_not(view.wants_help);
    cr_expect_eq(view.prompt, 0);
    type("?");
    cr_expect(view.wants_help);
    cr_expect_not(view.is_over);
    type("q");
    cr_expect(view.is_over);
}

Test(view, other_keys_do_nothing)
{
    const struct oteltop_view before = view;

    for (int key = 1; key < 256; key++) {
        if (key != '\033' && !strchr("qb/sf wh?", key))
            oteltop_view_key(&view, (char)key);
    }
    cr_expect_eq(view.scroll, before.scroll);
    cr_expect_eq(view.order, before.order);
    cr_expect_eq(view.prompt, before.prompt);
    cr_expect_str_eq(view.filter, before.filter);
    cr_expect_str_eq(view.text, before.text);
    cr_expect_eq(view.is_frozen, before.is_frozen);
    cr_expect_eq(view.wants_help, before.wants_help);
    cr_expect_eq(view.wants_wall, before.wants_wall);
    cr_expect_eq(view.is_over, before.is_over);
}

Test(view, sorting_goes_round_the_columns_that_are_shown)
{
    static const enum oteltop_column all[] = {
        OTELTOP_WALL,    OTELTOP_SAMPLES,   OTELTOP_UNTRUSTED,
        OTELTOP_THREADS, OTELTOP_PROCESSES, OTELTOP_LONGEST_NS,
        OTELTOP_CPU};

    for (int shown = 0; shown < 2; shown++) {
        view.has_untrusted = shown;
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
            if (all[i] == OTELTOP_UNTRUSTED && !shown)
                continue;
            type("s");
            cr_expect_eq(view.order, all[i]);
        }
    }
}

/* ---- escape sequences --------------------------------------------------- */

static void expect_scroll(const char *keys, size_t scroll)
{
    view.scroll = 50;
    type(keys);
    cr_expect_eq(view.scroll, scroll, "%s: %zu", keys + 1, view.scroll);
    cr_expect_eq(view.escape, 0, "%s", keys + 1);
    cr_expect_eq(view.prompt, 0, "%s", keys + 1);
    cr_expect_not(view.is_over, "%s", keys + 1);
}

Test(view, cursor_keys_scroll)
{
    expect_scroll("\033[A", 49);
    expect_scroll("\033OA", 49);
    expect_scroll("\033[B", 51);
    expect_scroll("\033OB", 51);
    expect_scroll("\033[5~", 40);
    expect_scroll("\033[6~", 60);
    expect_scroll("\033[6;2~", 60); /* with shift */
    expect_scroll("\033[1;5A", 49); /* with control */
    expect_scroll("\033[A\033[A\033[B", 49);
}

Test(view, scrolling_ends_at_the_first_row)
{
    view.scroll = 3;
    type("\033[5~");
    cr_expect_eq(view.scroll, 0);
    type("\033[A");
    cr_expect_eq(view.scroll, 0);
}

Test(view, other_sequences_do_nothing_and_none_of_their_bytes_is_a_key)
{
    expect_scroll("\033[C", 50);
    expect_scroll("\033[D", 50);
    expect_scroll("\033[H", 50);
    expect_scroll("\033OP", 50);     /* F1 */
    expect_scroll("\033[15~", 50);   /* F5 */
    expect_scroll("\033[26~", 50);   /* F14 */
    expect_scroll("\033[3;6~", 50);  /* delete, with modifiers */
    expect_scroll("\033[b", 50);     /* shift and down, of rxvt */
    expect_scroll("\033[1;2q", 50);  /* the last byte of others */
    expect_scroll("\033[?1;2b", 50); /* a terminal says what it is */
    expect_scroll("\033[1 q", 50);   /* with an intermediate byte */
    expect_scroll("\033b", 50);      /* Alt-b */
    expect_scroll("\033q", 50);
    expect_scroll("\033\033[A", 49);
    expect_scroll("\033[99999999999999999999~", 50);
}

Test(view, a_lone_escape_swallows_no_key)
{
    type("\033");
    type("q");
    cr_expect(view.is_over);
}

Test(view, a_sequence_may_come_in_parts)
{
    oteltop_view_key(&view, '\033');
    oteltop_view_key(&view, '[');
    oteltop_view_key(&view, 'A');
    cr_expect_eq(view.scroll, 49);
}

/* ---- lines that are typed ----------------------------------------------- */

Test(view, a_filter_is_typed_and_cleared)
{
    type("/shop");
    cr_expect_eq(view.prompt, '/');
    cr_expect_str_eq(view.text, "shop");
    cr_expect_str_eq(view.filter, "");
    type("\r");
    cr_expect_eq(view.prompt, 0);
    cr_expect_str_eq(view.filter, "shop");
    cr_expect_eq(view.scroll, 0);
    type("/\n");
    cr_expect_str_eq(view.filter, "");
}

Test(view, other_rows_end_a_freeze)
{
    type("f/shop");
    type("\033");
    cr_expect(view.is_frozen);
    cr_expect_not(view.is_regrouped);
    type("ba,,b\r");
    cr_expect(view.is_frozen, "a mistake changes nothing");
    type("/shop\r");
    cr_expect_not(view.is_frozen);
    cr_expect(view.is_regrouped);
    type("fbtrace\r");
    cr_expect_not(view.is_frozen);
    cr_expect(view.is_regrouped);
}

Test(view, keys_that_are_typed_are_text)
{
    type("/qbsfwh? /\r");
    cr_expect_str_eq(view.filter, "qbsfwh? /");
    cr_expect_not(view.is_over);
    cr_expect_not(view.is_frozen);
}

Test(view, escape_leaves_the_line_and_changes_nothing)
{
    type("/shop\r");
    type("/other");
    type("\033");
    cr_expect_eq(view.prompt, 0);
    cr_expect_str_eq(view.filter, "shop");
    type("/other\033x"); /* Alt-x, or quick fingers */
    cr_expect_eq(view.prompt, 0);
    cr_expect_str_eq(view.filter, "shop");
}

Test(view, cursor_keys_do_not_leave_the_line)
{
    type("/sh\033[D\033[1;2Ao\033[5~p\033OB\r");
    cr_expect_str_eq(view.filter, "shop");
}

Test(view, control_characters_are_no_text)
{
    type("/a\001b\tc\037d\r");
    cr_expect_str_eq(view.filter, "abcd");
}

Test(view, backspace_takes_a_whole_character)
{
    type("/a\xc3\xa4\xe6\x97\xa5\xf0\x9f\x98\x80");
    type("\177");
    cr_expect_str_eq(view.text, "a\xc3\xa4\xe6\x97\xa5");
    type("\b");
    cr_expect_str_eq(view.text, "a\xc3\xa4");
    type("\177\177");
    cr_expect_str_eq(view.text, "");
    type("\177x");
    cr_expect_str_eq(view.text, "x");
}

Test(view, a_long_paste_is_cut_between_characters)
{
    for (size_t shift = 0; shift < 3; shift++) {
        size_t i;

        type("/xx");
        view.text[shift] = '\0';
        for (i = 0; i < 100; i++)
            type("\xe6\x97\xa5");
        type("x"); /* not in the hole that is left */
        cr_expect_eq(strlen(view.text) % 3, shift % 3, "%zu", shift);
        cr_expect_gt(strlen(view.text), sizeof(view.text) - 4);
        type("\177z\r");
        cr_expect_eq(view.filter[strlen(view.filter) - 1], 'z');
    }
}

Test(view, a_paste_of_ascii_is_cut_at_the_end)
{
    type("/");
    for (size_t i = 0; i < 10000; i++)
        oteltop_view_key(&view, (char)('a' + i % 26));
    cr_expect_eq(strlen(view.text), sizeof(view.text) - 1);
    type("\r");
    cr_expect_eq(strlen(view.filter), sizeof(view.filter) - 1);
    cr_expect_eq(view.filter[27], 'b');
}

Test(view, rows_are_chosen_by_name)
{
    type("bprocess,http.route\r");
    cr_expect_eq(view.by.count, 2);
    cr_expect_str_eq(view.by.names[1], "http.route");
    cr_expect_null(view.complaint);
    type("b\r");
    cr_expect_eq(view.by.count, 2);
}

Test(view, wrong_rows_are_complained_about_until_the_next_ones)
{
    type("ba,,b\r");
    cr_expect_str_eq(view.complaint, "at most 8 names, none of them empty");
    cr_expect_str_eq(view.by.names[0], "service");
    type("b");
    cr_expect_null(view.complaint);
    type("1,2,3,4,5,6,7,8,9\r");
    cr_expect_not_null(view.complaint);
    type("/\r");
    cr_expect_null(view.complaint);
    cr_expect_str_eq(view.by.names[0], "service");
}

Test(view, the_help_fits_a_terminal_of_80_columns_and_24_lines)
{
    size_t lines = 0;

    for (; oteltop_view_help[lines]; lines++)
        cr_expect_leq(strlen(oteltop_view_help[lines]), 80);
    cr_expect_leq(lines, 24 - 3);
}
