/* SPDX-License-Identifier: Apache-2.0 */
#include "config/glob.h"

/* Return the size of the bracket expression at the start of the pattern, and
 * set *in when c is in its set. Returns 0 when no "]" ends the expression: "["
 * is then an ordinary character. */
static size_t bracket(struct otelctx_span p, char c, bool *in)
{
    const bool negated = p.size > 1 && (p.at[1] == '!' || p.at[1] == '^');
    const size_t first = negated ? 2 : 1;
    bool found = false;

    for (size_t i = first; i < p.size;) {
        char low, high;

        if (p.at[i] == ']' && i > first) {
            *in = found != negated;
            return i + 1;
        }
        i += p.at[i] == '\\' && i + 1 < p.size;
        low = high = p.at[i++];
        if (i + 1 < p.size && p.at[i] == '-' && p.at[i + 1] != ']') {
            i++;
            i += p.at[i] == '\\' && i + 1 < p.size;
            high = p.at[i++];
        }
        found |= (unsigned char)low <= (unsigned char)c &&
                 (unsigned char)c <= (unsigned char)high;
    }
    return 0;
}

/* Return how many bytes of the pattern match c, or 0 when none do. A "["
 * without "]" means that no later "[" has one either: *open keeps the first, so
 * that the pattern is searched for "]" only once. */
static size_t match_one(struct otelctx_span p, char c, const char **open)
{
    bool in = false;
    size_t size;

    if (p.size == 0)
        return 0;
    switch (p.at[0]) {
    case '?':
        return 1;
    case '[':
        if (*open && p.at >= *open)
            break;
        size = bracket(p, c, &in);
        if (size > 0)
            return in ? size : 0;
        *open = p.at;
        break;
    case '\\':
        if (p.size > 1)
            return p.at[1] == c ? 2 : 0;
        break;
    default:
        break;
    }
    return p.at[0] == c ? 1 : 0;
}

static struct otelctx_span skip(struct otelctx_span s, size_t size)
{
    return (struct otelctx_span){s.at + size, s.size - size};
}

/* Only the last "*" is tried again, so the time is |pattern| x |path| at most.
 */
static bool match(struct otelctx_span p, struct otelctx_span path)
{
    struct otelctx_span star = {NULL, 0}, retry = {NULL, 0};
    const char *open = NULL;

    while (path.size > 0) {
        size_t used;

        if (p.size > 0 && p.at[0] == '*') {
            p = skip(p, 1);
            star = p;
            retry = path;
            continue;
        }
        used = match_one(p, path.at[0], &open);
        if (used > 0) {
            p = skip(p, used);
            path = skip(path, 1);
        } else if (star.at) {
            retry = skip(retry, 1);
            p = star;
            path = retry;
        } else {
            return false;
        }
    }
    while (p.size > 0 && p.at[0] == '*')
        p = skip(p, 1);
    return p.size == 0;
}

struct otelctx_span otelctx_glob_find(struct otelctx_span patterns,
                                      struct otelctx_span path)
{
    struct otelctx_span pattern;

    while ((pattern = otelctx_span_member(&patterns)).size > 0)
        if (match(pattern, path))
            return pattern;
    return (struct otelctx_span){NULL, 0};
}

bool otelctx_glob_may_match_file(struct otelctx_span pattern)
{
    static const char first[] = {'/', '*', '?', '[', '\\'};

    return memchr(first, pattern.at[0], sizeof(first)) &&
           pattern.at[pattern.size - 1] != '/';
}
