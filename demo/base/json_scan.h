/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed piece of text; UTF-8, no NUL behind it. */
struct otelbase_text {
    const char *text;
    size_t size;
};

/*
 * Takes one JSON text apart, from the front to the back, without allocating:
 * escapes are undone in place. The first fault stays, and after it every call
 * returns nothing, so that callers check once.
 * Rule: RFC 8259; also no unpaired surrogate, and nesting up to 64.
 */
struct otelbase_scan {
    char *start; /* these three are set by the caller */
    char *at;
    const char *end;
    bool first;          /* no member of this object was taken yet */
    const char *why;     /* the fault, or NULL */
    const char *whereat; /* where it is */
};

/* Takes the brace of an object, or the bracket of an array. */
void otelbase_scan_open(struct otelbase_scan *json);
void otelbase_scan_open_array(struct otelbase_scan *json);

/* Takes the next key and its colon; false behind the last one, or a fault. */
bool otelbase_scan_member(struct otelbase_scan *json,
                          struct otelbase_text *key);

/* Whether an element follows, likewise. */
bool otelbase_scan_element(struct otelbase_scan *json);

/* A string. It may overwrite its own place in the text, and nothing else. */
struct otelbase_text otelbase_scan_string(struct otelbase_scan *json);

/* A whole number from 0 to INT64_MAX. */
uint64_t otelbase_scan_number(struct otelbase_scan *json);

bool otelbase_scan_bool(struct otelbase_scan *json);

/* Any value: how it is written. */
struct otelbase_text otelbase_scan_any(struct otelbase_scan *json);

/* Whether the next value begins with that character. */
bool otelbase_scan_next_is(struct otelbase_scan *json, char one);

/* Nothing but blanks may follow. */
void otelbase_scan_finish(struct otelbase_scan *json);

/* A fault that the caller found, unless there is one. */
void otelbase_scan_fail(struct otelbase_scan *json, const char *why);
