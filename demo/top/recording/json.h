/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_JSON_H
#define OTELTOP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed piece of text; UTF-8, no NUL behind it. */
struct oteltop_text {
    const char *text;
    size_t size;
};

/*
 * Takes one JSON text apart, from the front to the back, without allocating:
 * escapes are undone in place. The first fault stays, and after it every call
 * returns nothing, so that callers check once.
 * Rule: RFC 8259; also no unpaired surrogate, and nesting up to 64.
 */
struct oteltop_json {
    char *start; /* these three are set by the caller */
    char *at;
    const char *end;
    bool first;          /* no member of this object was taken yet */
    const char *why;     /* the fault, or NULL */
    const char *whereat; /* where it is */
};

/* Takes the brace of an object. */
void oteltop_json_open(struct oteltop_json *json);

/* Takes the next key and its colon; false behind the last one, or a fault. */
bool oteltop_json_member(struct oteltop_json *json, struct oteltop_text *key);

/* A string. It may overwrite its own place in the text, and nothing else. */
struct oteltop_text oteltop_json_string(struct oteltop_json *json);

/* A whole number from 0 to INT64_MAX. */
uint64_t oteltop_json_number(struct oteltop_json *json);

bool oteltop_json_bool(struct oteltop_json *json);

/* Any value: how it is written. */
struct oteltop_text oteltop_json_any(struct oteltop_json *json);

/* Whether the next value is a string. */
bool oteltop_json_is_string(struct oteltop_json *json);

/* Nothing but blanks may follow. */
void oteltop_json_finish(struct oteltop_json *json);

/* A fault that the caller found, unless there is one. */
void oteltop_json_fail(struct oteltop_json *json, const char *why);

#endif
