/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_TERMINAL_H
#define OTELTOP_TERMINAL_H

#include <stdbool.h>

/* Whether standard input and output are a terminal that can be drawn on. */
bool oteltop_terminal_is_there(void);

/*
 * Takes the terminal: another screen, no cursor, no echo. Whatever ends this
 * program gives it back: a guard, a child process, does it after SIGKILL.
 * Returns 0 or -errno.
 */
int oteltop_terminal_begin(void);

/* Gives the terminal back, as it was. */
void oteltop_terminal_end(void);

/* Does what SIGTSTP asks for, between two frames. */
void oteltop_terminal_suspend(void);

/* Takes the terminal again, after SIGSTOP: a shell had it meanwhile. */
void oteltop_terminal_resume(void);

/* Its size; 80 and 24 when it does not say. */
void oteltop_terminal_size(unsigned *columns, unsigned *lines);

#endif
