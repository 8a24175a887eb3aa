/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/collect/collection.h"

#include <stdint.h>

/* Finds the processes. Returns 0, or -errno. */
int oteltop_collector_begin(struct oteltop_collector *collector);

/* The time of the next look, by CLOCK_MONOTONIC. */
uint64_t oteltop_collector_next_ns(const struct oteltop_collector *collector);

/* Looks at all processes once, and hands out samples. */
void oteltop_collector_look(struct oteltop_collector *collector);

/* Hands out time that was measured but not sampled. Call before the samples are
 * shown. */
void oteltop_collector_settle(struct oteltop_collector *collector);

/* Looks for the last time, and hands out the time that threads owe without a
 * sample. */
void oteltop_collector_finish(struct oteltop_collector *collector);

/* Call when nothing refers to earlier samples any more. */
void oteltop_collector_forget(struct oteltop_collector *collector);

void oteltop_collector_free(struct oteltop_collector *collector);
