/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/json_scan.h"

/* The content of a line of a recording. See otelctx-recording(5). */
enum oteltop_line_kind {
    OTELTOP_OTHER, /* of a later version: to be ignored */
    OTELTOP_RECORDING,
    OTELTOP_PROCESS,
    OTELTOP_THREAD,
    OTELTOP_SPAN,
    OTELTOP_SAMPLE,
    OTELTOP_RATE,
    OTELTOP_GONE,
    OTELTOP_END,
};

/* An attribute. A value that is no string stays as written in JSON. */
struct oteltop_pair {
    struct otelbase_text key, value;
};

struct oteltop_pairs {
    struct oteltop_pair *pairs;
    size_t count, room;
};

/* Members that a line does not have are 0 or empty. Texts are borrowed. */
struct oteltop_line {
    enum oteltop_line_kind kind;
    uint64_t number; /* the number of what the line introduces; of GONE, the
                        process */

    uint64_t start_ns; /* RECORDING: Unix time */
    uint64_t hz;       /* RECORDING, RATE */
    uint64_t cpus;
    bool all_states; /* RECORDING: its "wall" */
    struct otelbase_text by, host;

    uint64_t pid, tid; /* PROCESS, THREAD */
    struct otelbase_text command, comm, container, cgroup, pod, context;

    uint64_t process; /* THREAD */
    uint8_t trace_id[16], span_id[8];
    uint64_t flags;
    struct oteltop_pairs attributes; /* SPAN; PROCESS: of its resource */

    uint64_t t_ns; /* SAMPLE, RATE, GONE, END */
    uint64_t thread, span;
    struct otelbase_text none; /* why there is no span, when span is 0 */
    struct otelbase_text state;
    uint64_t cpu_ns, wall_ns;
    bool untrusted; /* SAMPLE: the thread ran while it was read */

    uint64_t stops, stopped_ns, longest_ns; /* END */
};

/* Parses a line. On a fault json->why and json->whereat report it, and the line
 * is invalid. The line's pairs are reused from call to call; the caller frees
 * them. */
void oteltop_line_parse(struct otelbase_scan *json, struct oteltop_line *line);
