/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Borrowed bytes: not NUL-terminated, not owned. at is NULL when unset. */
struct otelctx_span {
    const char *at;
    size_t size;
};

/* What is wrong with a text, and where. */
struct otelctx_fault {
    size_t pos;      /* of the wrong byte; the first byte is 1 */
    const char *why; /* what was expected there, as a literal */
};

/* A literal's characters, as an initialiser and as a value. */
#define OTELCTX_SPAN_INIT(literal)                                             \
    {                                                                          \
        "" literal, sizeof(literal) - 1                                        \
    }
#define OTELCTX_SPAN(literal) ((struct otelctx_span)OTELCTX_SPAN_INIT(literal))

static inline bool otelctx_span_equal(struct otelctx_span a,
                                      struct otelctx_span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

static inline bool otelctx_span_begins(struct otelctx_span text,
                                       struct otelctx_span with)
{
    return text.size >= with.size && memcmp(text.at, with.at, with.size) == 0;
}

static inline struct otelctx_span otelctx_span_from(const char *text)
{
    return (struct otelctx_span){text, strlen(text)};
}

/* Cut the text before `end`, and `end`, off `rest`; all of it without `end`. */
static inline struct otelctx_span otelctx_span_cut(struct otelctx_span *rest,
                                                   char end)
{
    const char *stop = memchr(rest->at, end, rest->size);
    const size_t size = stop ? (size_t)(stop - rest->at) : rest->size;
    const struct otelctx_span head = {rest->at, size};
    const size_t used = stop ? size + 1 : size;

    rest->at += used;
    rest->size -= used;
    return head;
}

/* Return the span without spaces and tabs at both ends. */
static inline struct otelctx_span otelctx_span_trim(struct otelctx_span s)
{
    while (s.size > 0 && (s.at[0] == ' ' || s.at[0] == '\t'))
        s.at++, s.size--;
    while (s.size > 0 && (s.at[s.size - 1] == ' ' || s.at[s.size - 1] == '\t'))
        s.size--;
    return s;
}

static inline bool otelctx_is_white_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Return the span without white space at both ends, line breaks included, as
 * all SDKs trim their lists. */
static inline struct otelctx_span otelctx_span_strip(struct otelctx_span s)
{
    while (s.size > 0 && otelctx_is_white_space(s.at[0]))
        s.at++, s.size--;
    while (s.size > 0 && otelctx_is_white_space(s.at[s.size - 1]))
        s.size--;
    return s;
}

/* Take the next member, trimmed, off a list separated by ",". Empty members are
 * skipped; an empty result is the end. */
static inline struct otelctx_span otelctx_span_member(struct otelctx_span *rest)
{
    struct otelctx_span member = {rest->at, 0};

    while (member.size == 0 && rest->size > 0)
        member = otelctx_span_strip(otelctx_span_cut(rest, ','));
    return member;
}
