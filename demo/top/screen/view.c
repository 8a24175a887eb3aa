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
    view->complaint = NULL;
}

static void prompt_end(struct oteltop_view *view)
{
    if (view->prompt == '/')
        memcpy(view->filter, view->text, sizeof(view->filter));
    else if (view->text[0] != '\0' &&
             oteltop_dimensions_parse(&view->by, view->text) != 0)
        view->complaint = "at most 8 names, none of them empty";
    view->prompt = 0;
    view->scroll = 0;
}

static void prompt_key(struct oteltop_view *view, char key)
{
    size_t size = strlen(view->text);

    if (key == '\r' || key == '\n') {
        prompt_end(view);
    } else if (key == ESCAPE) {
        view->prompt = 0;
    } else if (key == BACKSPACE || key == '\b') {
        /* A character of UTF-8: its later bytes are 10xxxxxx. */
        while (size > 0 && ((unsigned char)view->text[--size] & 0xc0) == 0x80)
            ;
        view->text[size] = '\0';
    } else if ((unsigned char)key >= ' ' && size + 1 < sizeof(view->text)) {
        view->text[size] = key;
        view->text[size + 1] = '\0';
    }
}

/* ---- single keys -------------------------------------------------------- */

static void scroll_up(struct oteltop_view *view, size_t rows)
{
    view->scroll = view->scroll > rows ? view->scroll - rows : 0;
}

/* ESC [ A and so on: the cursor keys of every terminal. */
static void escape_key(struct oteltop_view *view, char key)
{
    if (view->escape == 1) {
        view->escape = key == '[' || key == 'O' ? 2 : 0;
        return;
    }
    if (key >= '0' && key <= '9') { /* ESC [ 5 ~ */
        if (key == '5')
            scroll_up(view, PAGE);
        else if (key == '6')
            view->scroll += PAGE;
        return;
    }
    view->escape = 0;
    if (key == 'A')
        scroll_up(view, 1);
    else if (key == 'B')
        view->scroll++;
}

static void single_key(struct oteltop_view *view, char key)
{
    switch (key) {
    case 'q':
        view->is_over = true;
        break;
    case 'b':
    case '/':
        prompt_begin(view, key);
        break;
    case 's':
        view->order = (view->order + 1) % OTELTOP_COLUMNS;
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
        view->wants_help = !view->wants_help;
        break;
    default:
        break;
    }
}

void oteltop_view_key(struct oteltop_view *view, char key)
{
    if (view->prompt)
        prompt_key(view, key);
    else if (key == ESCAPE)
        view->escape = 1;
    else if (view->escape > 0)
        escape_key(view, key);
    else
        single_key(view, key);
}
