/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/timeline/model.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lines of recordings, with ' in place of ". Times are in milliseconds. */
#define LINE(members) "{" members "}\n"
#define LINES_START                                                            \
    LINE("'recording':1,'start_ns':'1','hz':100")                              \
    LINE("'process':1,'pid':7,'resource':{'service.name':'shop'}")             \
    LINE("'thread':1,'process':1,'tid':7,'comm':'main'")                       \
    LINE("'thread':2,'process':1,'tid':8,'comm':'worker'")
#define LINES_ID "0123456789abcdef0123456789abcdef"
#define LINES_SPAN(number, span, route)                                        \
    LINE("'span':" number ",'trace_id':'" LINES_ID                             \
         "','span_id':'000000000000000" span                                   \
         "','attributes':{'http.route':'" route "'}")
#define SAMPLE(ms, thread, context, state, cpu_ms)                             \
    LINE("'t':" ms "000000,'thread':" thread "," context ",'state':'" state    \
         "','cpu':" cpu_ms "000000,'wall':10000000")

static inline int lines_add(struct oteltime_timeline *into, const char *text,
                            const char **why)
{
    struct oteltop_recording recording = {.in = tmpfile()};
    int status;

    cr_assert(recording.in);
    for (; *text; text++)
        (void)putc(*text == '\'' ? '"' : *text, recording.in);
    rewind(recording.in);
    status = oteltime_timeline_read(into, &recording);
    *why = recording.fault.why;
    (void)fclose(recording.in);
    oteltop_recording_free(&recording);
    return status;
}

static inline struct oteltime_timeline lines_read(const char *text)
{
    struct oteltime_timeline made = {.start_ns = 0};
    const char *why;

    cr_assert_eq(lines_add(&made, text, &why), 0, "%s", why);
    return made;
}

static inline void lines_refused(const char *text, const char *expected)
{
    struct oteltime_timeline made = {.start_ns = 0};
    const char *why;

    cr_expect_eq(lines_add(&made, text, &why), -EINVAL);
    cr_assert(why);
    cr_expect_str_eq(why, expected);
    oteltime_timeline_free(&made);
}
