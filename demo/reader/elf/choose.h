/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/object.h"
#include "demo/reader/elf/symbol.h"

/*
 * Which definition of the variable a process with these objects uses, and where
 * it is: read from the words that the dynamic linker wrote for relocations that
 * name the variable, because those are what the code uses.
 * Returns 0, -ENOENT, -EAGAIN, -ENOTSUP (as otelread_symbol_find()) or what
 * the objects' read says. *symbol is complete only with 0, but names the
 * object when there is one.
 */
int otelread_symbol_choose(const struct otelread_object *objects, size_t count,
                           const char *name, struct otelread_symbol *symbol);
