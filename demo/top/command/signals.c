/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t is_over;
static volatile sig_atomic_t is_suspended;
static volatile sig_atomic_t is_resumed;

static void end(int signal)
{
    (void)signal;
    is_over = 1;
}

static void suspend(int signal)
{
    (void)signal;
    is_suspended = 1;
}

static void resume(int signal)
{
    (void)signal;
    is_resumed = 1;
}

void oteltop_signals_catch(void)
{
    const struct sigaction action = {.sa_handler = end};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

bool oteltop_signals_is_over(void)
{
    return is_over != 0;
}

void oteltop_signals_catch_suspend(void)
{
    const struct sigaction suspended = {.sa_handler = suspend};
    const struct sigaction resumed = {.sa_handler = resume};

    (void)sigaction(SIGTSTP, &suspended, NULL);
    (void)sigaction(SIGCONT, &resumed, NULL);
}

bool oteltop_signals_take_suspend(void)
{
    const bool was_suspended = is_suspended != 0;

    is_suspended = 0;
    return was_suspended;
}

bool oteltop_signals_take_resume(void)
{
    const bool was_resumed = is_resumed != 0;

    is_resumed = 0;
    return was_resumed;
}
