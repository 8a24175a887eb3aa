/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_SIGNALS_H
#define OTELTOP_SIGNALS_H

#include <stdbool.h>

/* Makes SIGINT, SIGTERM and SIGHUP a request to end in order. */
void oteltop_signals_catch(void);

/* Whether one of them has come. */
bool oteltop_signals_is_over(void);

/* Makes SIGTSTP a request, too, and notices SIGCONT. */
void oteltop_signals_catch_suspend(void);

/* Whether it came since the last call. */
bool oteltop_signals_take_suspend(void);
bool oteltop_signals_take_resume(void);

#endif
