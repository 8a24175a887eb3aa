/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Makes SIGINT, SIGTERM and SIGHUP requests to end in order. */
void oteltop_signals_catch(void);

/* Whether such a signal has come. */
bool oteltop_signals_is_over(void);

/* Makes SIGTSTP a request, too, and reports SIGCONT. */
void oteltop_signals_catch_suspend(void);

/* Whether SIGTSTP, or SIGCONT, came since the last call. */
bool oteltop_signals_take_suspend(void);
bool oteltop_signals_take_resume(void);
