/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/command/session.h"

/*
 * Samples as long as the options say, or replays that much, and prints one
 * table or the stacks, and writes profiles. Returns an exit status.
 */
int oteltop_once(struct oteltop_session *session);
