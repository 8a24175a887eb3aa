/* SPDX-License-Identifier: Apache-2.0 */
#include "config/traceparent.h"

#include <errno.h>

/* The offset of each field, and of the end. */
enum {
    VERSION = 0,
    TRACE_ID = 3,
    SPAN_ID = 36,
    FLAGS = 53,
    END = 55
};

static int fail(size_t at, const char *why, struct otelctx_fault *fault)
{
    *fault = (struct otelctx_fault){.pos = at + 1, .why = why};
    return -EINVAL;
}

static int lower_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read `size` bytes from twice as many digits at `at`. */
static int take_hex(struct otelctx_span text, size_t at, uint8_t *out,
                    size_t size, struct otelctx_fault *fault)
{
    for (size_t i = 0; i < 2 * size; i++, at++) {
        const int digit = at < text.size ? lower_hex_digit(text.at[at]) : -1;

        if (digit < 0)
            return fail(at, "a lower-case hexadecimal digit", fault);
        out[i / 2] = (uint8_t)(out[i / 2] << 4 | digit);
    }
    return 0;
}

static int take_dash(struct otelctx_span text, size_t at,
                     struct otelctx_fault *fault)
{
    return at < text.size && text.at[at] == '-' ? 0 : fail(at, "'-'", fault);
}

static bool is_zero(const uint8_t *id, size_t size)
{
    uint8_t any = 0;

    while (size-- > 0)
        any |= *id++;
    return any == 0;
}

/* Versions after 00 may have more fields, behind a dash. */
static int check_end(struct otelctx_span text, uint8_t version,
                     struct otelctx_fault *fault)
{
    if (text.size == END)
        return 0;
    return version == 0 ? fail(END, "the end after 55 bytes", fault)
                        : take_dash(text, END, fault);
}

int otelctx_traceparent_parse(struct otelctx_span text,
                              struct otelctx_traceparent *out,
                              struct otelctx_fault *fault)
{
    struct otelctx_traceparent t = {.flags = 0};
    uint8_t version = 0;

    if (take_hex(text, VERSION, &version, 1, fault))
        return -EINVAL;
    if (version == 0xff)
        return fail(VERSION, "a version other than ff", fault);
    if (take_dash(text, TRACE_ID - 1, fault) ||
        take_hex(text, TRACE_ID, t.trace_id, sizeof(t.trace_id), fault))
        return -EINVAL;
    if (is_zero(t.trace_id, sizeof(t.trace_id)))
        return fail(TRACE_ID, "a trace id that is not zero", fault);
    if (take_dash(text, SPAN_ID - 1, fault) ||
        take_hex(text, SPAN_ID, t.span_id, sizeof(t.span_id), fault))
        return -EINVAL;
    if (is_zero(t.span_id, sizeof(t.span_id)))
        return fail(SPAN_ID, "a parent id that is not zero", fault);
    if (take_dash(text, FLAGS - 1, fault) ||
        take_hex(text, FLAGS, &t.flags, 1, fault) ||
        check_end(text, version, fault))
        return -EINVAL;

    t.flags &= OTELCTX_TRACE_FLAGS;
    *out = t;
    return 0;
}
