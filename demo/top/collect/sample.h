/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_SAMPLE_H
#define OTELTOP_SAMPLE_H

#include "demo/top/collect/collection.h"

/* Hands out a sample of a process, taken at the last look. */
void oteltop_sample_emit(struct oteltop_collector *collector,
                         struct oteltop_watched *watched,
                         struct oteltop_sample *sample);

/*
 * Samples the threads that are due, as many as may be stopped by now. The
 * process to begin with is the one behind the last that had a thread stopped.
 */
void oteltop_sample_all(struct oteltop_collector *collector);

#endif
