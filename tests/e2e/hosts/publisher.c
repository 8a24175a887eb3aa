/* SPDX-License-Identifier: Apache-2.0 */

/* A library that publishes a process context of its own, by its constructor. */

#include "publisher.h"

#include <stdlib.h>

__attribute__((constructor)) static void publish(void)
{
    const char *const how = getenv("PUBLISHER");

    if (how)
        (void)publisher_does("other", how);
}
