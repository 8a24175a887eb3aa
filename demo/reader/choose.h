/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_CHOOSE_H
#define OTELREAD_CHOOSE_H

#include "demo/reader/objects.h"
#include "demo/reader/symbol.h"

/*
 * Which variable the name means in a process with these objects, and where it
 * is: what the dynamic linker wrote where a relocation names it is the truth.
 * Returns 0, -ENOENT, -EAGAIN, -ENOTSUP (as otelread_symbol_find()) or what
 * the objects' read says. *symbol is complete only with 0, but names the
 * object when there is one.
 */
int otelread_choose(const struct otelread_object *objects, size_t count,
                    const char *name, struct otelread_symbol *symbol);

#endif
