/* SPDX-License-Identifier: Apache-2.0 */

/* A library whose constructor publishes a process context of its own. */

#include "publisher.h"

#include <stdlib.h>

__attribute__((constructor)) static void publish(void)
{
    const char *const how = getenv("PUBLISHER");

    if (how)
        (void)publisher_does("other", how);
}
