/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TOP_JSON_H
#define OTELCTX_TOP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed piece of text; UTF-8, no NUL behind it. */
struct otelctx_top_text {
    const char *text;
    size_t size;
};

/*
 * Takes one JSON text apart, from the front to the back, without allocating:
 * escapes are undone in place. The first fault stays, and after it every call
 * returns nothing, so that callers check once.
 * Rule: RFC 8259; also no unpaired surrogate, and nesting up to 64.
 */
struct otelctx_top_json {
    char *start; /* these three are set by the caller */
    char *at;
    const char *end;
    bool first;          /* no member of this object was taken yet */
    const char *why;     /* the fault, or NULL */
    const char *whereat; /* where it is */
};

/* Takes the brace of an object. */
void otelctx_top_json_open(struct otelctx_top_json *json);

/* Takes the next key and its colon; false behind the last one, or a fault. */
bool otelctx_top_json_member(struct otelctx_top_json *json,
                             struct otelctx_top_text *key);

/* A string. It may overwrite its own place in the text, and nothing else. */
struct otelctx_top_text otelctx_top_json_string(struct otelctx_top_json *json);

/* A whole number from 0 to INT64_MAX. */
uint64_t otelctx_top_json_number(struct otelctx_top_json *json);

bool otelctx_top_json_bool(struct otelctx_top_json *json);

/* Any value: how it is written. */
struct otelctx_top_text otelctx_top_json_any(struct otelctx_top_json *json);

/* Whether the next value is a string. */
bool otelctx_top_json_is_string(struct otelctx_top_json *json);

/* Nothing but blanks may follow. */
void otelctx_top_json_finish(struct otelctx_top_json *json);

/* A fault that the caller found, unless there is one. */
void otelctx_top_json_fail(struct otelctx_top_json *json, const char *why);

#endif
