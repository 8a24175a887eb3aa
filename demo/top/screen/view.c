/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/screen/view.h"

#include <string.h>

#define ESCAPE    '\033'
#define BACKSPACE '\177'
#define PAGE      10

const char *const oteltop_view_help[] = {
    "b   rows: service, process, thread, trace, span, state, pod, container,",
    "    cgroup, or any attribute; several, with commas: service,http.route",
    "s   sort by the next column",
    "/   show only rows with a text; an empty text shows all",
    "f   freeze, and go on; sampling continues",
    "w   with threads that sleep, or without",
    "up, down, page up, page down   scroll",
    "h   this help",
    "q   leave",
    NULL,
};

/* ---- a line that is typed ----------------------------------------------- */

static void prompt_begin(struct oteltop_view *view, char prompt)
{
    view->prompt = prompt;
    view->text[0] = '\0';
    view->is_full = false;
    view->is_regrouped = false;
    view->complaint = NULL;
}

/* A frozen view cannot be grouped in another way. */
static void prompt_end(struct oteltop_view *view)
{
    if (view->prompt == '/')
        memcpy(view->filter, view->text, sizeof(view->filter));
    else if (view->text[0] != '\0' &&
             oteltop_dimensions_parse(&view->by, view->text) != 0)
        view->complaint = "at most 8 names, none of them empty";
    view->prompt = 0;
    view->scroll = 0;
    view->is_frozen = view->is_frozen && view->complaint;
    view->is_regrouped = true;
}

/* Removes the last character, whose later bytes are 10xxxxxx. */
static void text_shorten(struct oteltop_view *view)
{
    size_t size = strlen(view->text);

    while (size > 0 && ((unsigned char)view->text[--size] & 0xc0) == 0x80)
        ;
    view->text[size] = '\0';
}

/* A character that does not fit is left out with all its bytes. */
static void type_character(struct oteltop_view *view, char key)
{
    const size_t size = strlen(view->text);
    const bool is_later = ((unsigned char)key & 0xc0) == 0x80;

    if (!is_later)
        view->is_full = view->is_full || size + 1 >= sizeof(view->text);
    if (view->is_full)
        return;
    if (size + 1 >= sizeof(view->text)) {
        text_shorten(view);
        view->is_full = true;
        return;
    }
    view->text[size] = key;
    view->text[size + 1] = '\0';
}

static void prompt_key(struct oteltop_view *view, char key)
{
    if (key == '\r' || key == '\n') {
        prompt_end(view);
    } else if (key == BACKSPACE || key == '\b') {
        text_shorten(view);
        view->is_full = false;
    } else if ((unsigned char)key >= ' ') {
        type_character(view, key);
    }
}

/* ---- single keys -------------------------------------------------------- */

static void scroll_up(struct oteltop_view *view, size_t rows)
{
    view->scroll = view->scroll > rows ? view->scroll - rows : 0;
}

/* ECMA-48, 5.4: parameters and intermediate bytes, of which the first number
 * counts, and a last byte. */
static void sequence_key(struct oteltop_view *view, char key)
{
    if (key >= '0' && key <= '9') {
        if (!view->has_number && view->number < 100)
            view->number = view->number * 10 + (unsigned)(key - '0');
        return;
    }
    view->has_number = true;
    if (key >= ' ' && key <= '?')
        return;
    view->escape = 0;
    if (view->prompt)
        return;
    if (key == 'A')
        scroll_up(view, 1);
    else if (key == 'B')
        view->scroll++;
    else if (key == '~' && view->number == 5)
        scroll_up(view, PAGE);
    else if (key == '~' && view->number == 6)
        view->scroll += PAGE;
}

/* ESC [ A and so on: the cursor keys of every terminal. */
static void escape_key(struct oteltop_view *view, char key)
{
    if (view->escape == 2) {
        sequence_key(view, key);
    } else if (key == '[' || key == 'O') {
        view->escape = 2;
        view->number = 0;
        view->has_number = false;
    } else if (key != ESCAPE) {
        oteltop_view_pause(view);
    }
}

static void sort_by_next(struct oteltop_view *view)
{
    do {
        view->order = (view->order + 1) % OTELTOP_COLUMNS;
    } while (view->order == OTELTOP_UNTRUSTED && !view->has_untrusted);
}

static void single_key(struct oteltop_view *view, char key)
{
    if (view->wants_help && key != 'q') {
        view->wants_help = false;
        return;
    }
    switch (key) {
    case 'q':
        view->is_over = true;
        break;
    case 'b':
    case '/':
        prompt_begin(view, key);
        break;
    case 's':
        sort_by_next(view);
        break;
    case 'f':
    case ' ':
        view->is_frozen = !view->is_frozen;
        break;
    case 'w':
        view->wants_wall = !view->wants_wall;
        break;
    case 'h':
    case '?':
        view->wants_help = true;
        break;
    default:
        break;
    }
}

void oteltop_view_key(struct oteltop_view *view, char key)
{
    if (view->escape > 0)
        escape_key(view, key);
    else if (key == ESCAPE)
        view->escape = 1;
    else if (view->prompt)
        prompt_key(view, key);
    else
        single_key(view, key);
}

void oteltop_view_pause(struct oteltop_view *view)
{
    if (view->escape == 1) {
        view->prompt = 0;
        view->wants_help = false;
    }
    view->escape = 0;
}
