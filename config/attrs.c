/* SPDX-License-Identifier: Apache-2.0 */
#include "config/attrs.h"

#include <errno.h>

#include "config/utf8.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Take one decoded character off `raw`; `raw` is not empty.
 *
 * Returns it, or -1 when the escape at the start of raw is malformed.
 */
static int unescape(struct otelctx_span *raw)
{
    size_t used = 1;
    int byte = (unsigned char)raw->at[0];

    if (byte == '%') {
        const int high = raw->size > 2 ? hex_digit(raw->at[1]) : -1;
        const int low = raw->size > 2 ? hex_digit(raw->at[2]) : -1;

        if (high < 0 || low < 0)
            return -1;
        byte = high << 4 | low;
        used = 3;
    }
    raw->at += used;
    raw->size -= used;
    return byte;
}

static int fail_at(const struct otelctx_attrs *it, const char *at,
                   const char *why, struct otelctx_fault *fault)
{
    fault->pos = (size_t)(at - it->text.at) + 1;
    fault->why = why;
    return -EINVAL;
}

/* Return the place in raw from which decoded byte number `index` comes. */
static const char *source_of(struct otelctx_span raw, size_t index)
{
    while (index-- > 0)
        (void)unescape(&raw);
    return raw.at;
}

/* Decode raw into the scratch, behind the `used` bytes. */
static int decode(const struct otelctx_attrs *it, struct otelctx_span raw,
                  size_t used, struct otelctx_span *out,
                  struct otelctx_fault *fault)
{
    struct otelctx_span decoded = {it->scratch + used, 0};
    struct otelctx_span rest = raw;
    size_t valid;

    while (rest.size > 0) {
        const char *at = rest.at;
        const int byte = unescape(&rest);

        if (byte < 0)
            return fail_at(it, at, "two hexadecimal digits after '%'", fault);
        if (byte == 0)
            return fail_at(it, at, "no NUL character", fault);
        if (used == it->scratch_size) {
            (void)fail_at(it, raw.at, "an attribute of at most 64 KiB", fault);
            return -ENOSPC;
        }
        it->scratch[used++] = (char)byte;
        decoded.size++;
    }

    valid = otelctx_utf8_valid(decoded);
    if (valid < decoded.size)
        return fail_at(it, source_of(raw, valid), "valid UTF-8", fault);
    *out = decoded;
    return 0;
}

static int decode_member(const struct otelctx_attrs *it,
                         struct otelctx_span member, struct otelctx_pair *pair,
                         struct otelctx_fault *fault)
{
    struct otelctx_span value = member;
    const struct otelctx_span key =
        otelctx_span_strip(otelctx_span_cut(&value, '='));
    struct otelctx_pair out = {.pos = (size_t)(key.at - it->text.at) + 1};
    int err;

    if (value.at[-1] != '=')
        return fail_at(it, member.at, "key=value", fault);
    if (key.size == 0)
        return fail_at(it, member.at, "a key before '='", fault);

    err = decode(it, key, 0, &out.key, fault);
    if (!err)
        err = decode(it, otelctx_span_strip(value), out.key.size, &out.value,
                     fault);
    if (err)
        return err;
    *pair = out;
    return 1;
}

struct otelctx_attrs otelctx_attrs_begin(struct otelctx_span text,
                                         char *scratch, size_t scratch_size)
{
    return (struct otelctx_attrs){
        .text = text,
        .rest = text,
        .scratch = scratch,
        .scratch_size = scratch_size,
    };
}

int otelctx_attrs_next(struct otelctx_attrs *it, struct otelctx_pair *pair,
                       struct otelctx_fault *fault)
{
    const struct otelctx_span member = otelctx_span_member(&it->rest);

    return member.size > 0 ? decode_member(it, member, pair, fault) : 0;
}
