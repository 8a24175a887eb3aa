/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A scenario on stage: its state while it publishes, and the line of JSON that
 * describes it, see otelctx-verdict(5). */

#include "demo/kit/otelctx_kit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct otelkit_scene;

/* A JSON text that grows. */
struct otelkit_text {
    FILE *file;
    char *text;
    size_t size;
};

struct otelkit_stage {
    const struct otelkit_scene *scene;
    int line;               /* descriptor that the line is written to */
    pid_t pid;              /* 0: the calling process */
    const char *folder;     /* of the libraries, or NULL */
    char why[160];          /* why the scenario cannot be staged */
    const char *resource;   /* expected JSON object; NULL: the scene's */
    char *own_resource;     /* the same, made at run time; freed */
    struct otelkit_text at; /* ,"name":"0x..." */
    struct otelkit_text tids;
    struct otelkit_text threads;      /* expected of TLS */
    struct otelkit_text ring_threads; /* expected of the ring */
};

/* What a right reader answers. */
enum otelkit_answer {
    OTELKIT_CONTEXT, /* this context */
    OTELKIT_NONE,    /* no context that counts */
    OTELKIT_EITHER,  /* this context or none: the rules leave it open */
};

/* How moving values belong together: see otelctx-verdict(5), "check". */
enum otelkit_check {
    OTELKIT_AS_IT_IS,
    OTELKIT_NUMBERED,
};

/* Which program is on stage: the caller itself, or one of program/. */
enum otelkit_program {
    OTELKIT_SELF,
    OTELKIT_PLAIN,    /* without the variable */
    OTELKIT_EXPORTER, /* defines and exports the variable */
    OTELKIT_PIE,      /* the same, linked statically */
};

struct otelkit_scene {
    struct otelctx_kit_scenario about;
    int (*set)(struct otelkit_stage *stage, const void *how);
    const void *how;
    const char *resource; /* expected JSON object; NULL: it is not judged */
    const char *extra;    /* likewise */
    const char *library;  /* preloaded into the program, or opened by it */
    enum otelkit_answer answer;
    enum otelkit_check check;
    enum otelkit_program program;
    bool musl;   /* the program and the library are musl's */
    bool opened; /* the program gets the library's path */
};

/* Every scene, in the order of the list; the last has no name. */
extern const struct otelkit_scene *const otelkit_scenes[];

const struct otelkit_scene *otelkit_scene_find(const char *name);

/* The arguments with which a program of program/ executes itself, or NULL. */
extern char **otelkit_again;

/* Opens and frees what grows. Returns 0 or -ENOMEM. */
int otelkit_stage_open(struct otelkit_stage *stage);
void otelkit_stage_close(struct otelkit_stage *stage);

/* Stores why the scenario cannot be staged. Returns -ENOTSUP. */
int otelkit_stage_refuse(struct otelkit_stage *stage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds an address that helps the author of a reader. */
void otelkit_stage_at(struct otelkit_stage *stage, const char *name,
                      const volatile void *address);

/* Returns the line without a newline, for free(); NULL when there is no memory.
 */
char *otelkit_stage_line(struct otelkit_stage *stage);

/* Writes the line to stage->line, unless that is -1. Returns 0 or -errno. */
int otelkit_stage_say(struct otelkit_stage *stage);
