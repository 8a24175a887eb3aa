/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/*
 * How far CLOCK_BOOTTIME of a thread is ahead of the caller's. It differs in
 * time namespaces with different offsets (time_namespaces(7)). Returns 0 when
 * the kernel does not tell.
 */
int64_t otelread_boottime_ahead_ns(pid_t task);
