/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_SYMBOLS_H
#define OTELRUN_SYMBOLS_H

#include <stdbool.h>

/*
 * Does an ELF file of this machine define a thread-local variable of this name
 * that it does not export? Such a variable is in .symtab and not in .dynsym. A
 * file without symbols, or a broken one, has none.
 */
bool otelrun_symbols_hide(int fd, const char *name);

#endif
