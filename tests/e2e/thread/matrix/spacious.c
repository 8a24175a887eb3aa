/* SPDX-License-Identifier: Apache-2.0 */

/* A small file that takes a gigabyte of address space when it is loaded. */
char spacious[1 << 30];
