/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/command/session.h"

/* Shows the last second on a terminal, again and again, until a key or a signal
 * ends the program. Shows a recording at the speed at which it was made, and at
 * its end as a whole. Returns an exit status. */
int oteltop_live(struct oteltop_session *session);
