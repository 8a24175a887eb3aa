/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/collect/collection.h"

/* Hands out a sample of a process, taken at the last look. */
void oteltop_sample_emit(struct oteltop_collector *collector,
                         struct oteltop_watched *watched,
                         struct oteltop_sample *sample);

/* Samples the threads that are due, as far as the allowance for stops permits.
 * Begins with the process after the last one of which a thread was stopped. */
void oteltop_sample_all(struct oteltop_collector *collector);
