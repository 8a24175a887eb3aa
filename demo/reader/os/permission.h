/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/*
 * What would give this process the permission to read that one, which was
 * refused, as far as the facts tell: a sentence; never NULL.
 * Rule: ptrace(2), "Ptrace access mode checking".
 */
const char *otelread_permission_advice(pid_t pid);
