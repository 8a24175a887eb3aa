/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/message.h"

/*
 * Sets the status and the message of a result: a report, a context, a thread
 * or all threads of a process. A macro, because each kind of result has an enum
 * of statuses of its own, which the compiler checks. The message is formatted
 * as by printf(3), after the status was set.
 */
#define otelread_judge(result, verdict, ...)                                   \
    do {                                                                       \
        (result)->status = (verdict);                                          \
        otelbase_message_set((result)->message, sizeof((result)->message),     \
                             __VA_ARGS__);                                     \
    } while (0)
