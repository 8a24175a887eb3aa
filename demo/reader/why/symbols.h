/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * Does an ELF file of this machine define a thread-local variable of this name
 * that it does not export? Such a variable is in .symtab and not in .dynsym. A
 * file without symbols, or a broken one, has none.
 */
bool otelread_symbols_hide(int fd, const char *name);
