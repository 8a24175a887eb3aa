/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel's own limits: 249 bytes for a memfd, 80 for an anonymous one. */
#define OTELREAD_NAME_SIZE 288

/* The fields in front of the name, and a name as long as a path can be. */
#define OTELREAD_LINE_SIZE (128 + 4096)

/* A mapping whose name is that of a process context. */
struct otelread_mapping {
    uint64_t start;
    uint64_t end;
    char permissions[5];
    char name[OTELREAD_NAME_SIZE]; /* cut when longer */
    bool in_memory; /* a memfd: only userfaultfd(2) can make a read block */
};

/* Any mapping. */
struct otelread_maps_line {
    uint64_t start;
    uint64_t end;
    char permissions[5];
    uint64_t offset;  /* in the file */
    const char *name; /* no NUL behind it; until the next line is asked for */
    size_t name_size; /* 0: it has none */
};

/* Reads the text, like read(2), but returns -errno for a failure. */
typedef ssize_t otelread_maps_read(void *source, void *out, size_t size);

/* Reads a descriptor; source points to an int. */
ssize_t otelread_maps_read_fd(void *source, void *out, size_t size);

/*
 * One pass over the text of /proc/PID/maps, in bounded memory however many
 * and however long its lines are. Set read and source, the rest to zero.
 */
struct otelread_maps {
    otelread_maps_read *read;
    void *source;
    size_t at, filled; /* what is left in the buffer */
    size_t line_size;
    char line[OTELREAD_LINE_SIZE]; /* longer lines are cut */
    char buffer[8192];
};

/*
 * The next mapping. Malformed lines are skipped. Returns 1, 0 at the end, or
 * -errno.
 */
int otelread_maps_next_line(struct otelread_maps *maps,
                            struct otelread_maps_line *line);

/* Whether the name begins as the name of a process context does. */
bool otelread_maps_is_context(const char *name, size_t size);

/*
 * The next mapping with such a name.
 * Returns 1, 0 at the end, or -errno.
 * Rule: OTEP 4719, "Reading Protocol", step 1.
 */
int otelread_maps_next(struct otelread_maps *maps,
                       struct otelread_mapping *mapping);
