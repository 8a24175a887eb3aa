/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* What the next prctl has seen, and what it is to do. */
extern unsigned long next_prctl_calls, next_prctl_args[4];
extern int next_prctl_option;
extern void (*next_prctl_look)(void); /* before it names a mapping */
extern bool next_prctl_refuses;       /* to name any */
