/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Whether standard input and output are a terminal that can be drawn on. */
bool oteltop_terminal_is_there(void);

/* Takes the terminal: alternate screen, no cursor, no echo. The terminal is
 * given back however this program ends: after SIGKILL the guard, a child
 * process, does that. Returns 0 or -errno. */
int oteltop_terminal_begin(void);

/* Gives the terminal back, as it was. */
void oteltop_terminal_end(void);

/* Stops this program as SIGTSTP does. Call between two frames. */
void oteltop_terminal_suspend(void);

/* Takes the terminal again after SIGSTOP, during which a shell had it. */
void oteltop_terminal_resume(void);

/* The terminal's size; 80 and 24 when that is unknown. */
void oteltop_terminal_size(unsigned *columns, unsigned *lines);
