/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_KIT_H
#define OTELCTX_KIT_H

/*
 * Publishers of OpenTelemetry contexts, right and wrong, for the tests of
 * programs that read contexts. Link with libotelctx_kit.a and -pthread.
 *
 *     struct otelctx_kit_publisher publisher;
 *
 *     if (otelctx_kit_start("header/version-3", &publisher) == 0) {
 *         // read publisher.pid, compare with what publisher.line expects
 *         otelctx_kit_stop(&publisher);
 *     }
 */

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct otelctx_kit_scenario {
    const char *name;   /* "header/version-3" */
    const char *stage;  /* what the process publishes */
    const char *answer; /* the answer of a right reader */
    const char *rule;   /* the section of the rules that decides */
};

struct otelctx_kit_publisher {
    pid_t pid;         /* the process to read */
    pid_t child;       /* child of the caller: pid, or its parent */
    char *line;        /* one JSON object, see otelctx-verdict(5), or NULL */
    char message[160]; /* why the scenario was not staged */
    char folder[64];   /* with the program and its libraries, or empty */
};

/* The scenario with that number, from 0, or NULL when there are no more. */
const struct otelctx_kit_scenario *otelctx_kit_scenario(size_t number);

/* The scenario with that name, or NULL. */
const struct otelctx_kit_scenario *otelctx_kit_find(const char *name);

/*
 * Starts a process that publishes as the scenario says, and waits until it
 * does. The process ends when the calling thread ends.
 *
 * Returns 0 or -errno: -ENOENT (no such scenario) or -ENOTSUP (this machine
 * cannot stage it: publisher->message says why). After a failure there is
 * nothing to stop.
 */
int otelctx_kit_start(const char *name,
                      struct otelctx_kit_publisher *publisher);

/* Ends the process and removes its files. */
void otelctx_kit_stop(struct otelctx_kit_publisher *publisher);

/*
 * Publishes in the calling process, which other scenarios may do before and
 * after: nothing is taken back. *line is as in struct otelctx_kit_publisher,
 * for free().
 *
 * Returns 0 or -errno: -ENOENT, or -ENOTSUP when this machine cannot, or when
 * the scenario needs a program of its own, as those with threads do, or is
 * about a child.
 */
int otelctx_kit_publish(const char *name, char **line);

#ifdef __cplusplus
}
#endif

#endif
