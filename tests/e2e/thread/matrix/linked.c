/* SPDX-License-Identifier: Apache-2.0 */

#include "matrix.h"

#include <stddef.h>

slot_function *matrix_find(char **libraries)
{
    (void)libraries;
    return matrix_slot;
}

slot_function *matrix_find_old(char **libraries)
{
    (void)libraries;
    return NULL;
}
