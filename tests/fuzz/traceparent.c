/* SPDX-License-Identifier: Apache-2.0 */
#include "config/traceparent.h"
#include "tests/fuzz/fuzz.h"

/*
 * Any text of a traceparent. What the parser takes, printed again, is that
 * text; what it does not take has a fault where the text stops being one.
 */
enum {
    SIZE = 55
};

/* Where each character of version 00 may be what: x a digit, - a dash. */
static const char form[] =
    "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";

/* How much of the text has that form. */
static size_t formed(struct otelctx_span text)
{
    size_t at = 0;

    while (at < text.size && at < SIZE &&
           (form[at] == '-'
                ? text.at[at] == '-'
                : text.at[at] && strchr("0123456789abcdef", text.at[at])))
        at++;
    return at;
}

/* Are they all "0"? */
static bool zeroes(struct otelctx_span text, size_t from, size_t count)
{
    static const char digits[] = "00000000000000000000000000000000";

    return memcmp(text.at + from, digits, count) == 0;
}

/* The position of the fault that comes first; 0: there is none. */
static size_t fault_of(struct otelctx_span text)
{
    const size_t good = formed(text);

    if (good >= 2 && memcmp(text.at, "ff", 2) == 0)
        return 1;
    if (good >= 35 && zeroes(text, 3, 32))
        return 4;
    if (good >= 52 && zeroes(text, 36, 16))
        return 37;
    if (good < SIZE)
        return good + 1;
    if (text.size == SIZE)
        return 0;
    return memcmp(text.at, "00", 2) == 0 || text.at[SIZE] != '-' ? SIZE + 1 : 0;
}

/* Print the ids and the flags, without unknown ones, as they have to be. */
static void check_values(struct otelctx_span text,
                         const struct otelctx_traceparent *t)
{
    const char flags[3] = {text.at[SIZE - 2], text.at[SIZE - 1], '\0'};
    char again[SIZE + 1];
    int size = snprintf(again, sizeof(again), "%.2s-", text.at);

    for (size_t i = 0; i < sizeof(t->trace_id); i++)
        size += snprintf(again + size, 3, "%02x", t->trace_id[i]);
    again[size++] = '-';
    for (size_t i = 0; i < sizeof(t->span_id); i++)
        size += snprintf(again + size, 3, "%02x", t->span_id[i]);
    require(memcmp(again, text.at, (size_t)size) == 0);
    require(t->flags == (strtoul(flags, NULL, 16) & 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct otelctx_traceparent out, before;
    struct otelctx_fault fault = {0};
    char *exact = malloc(size ? size : 1); /* ASan sees a step too far */
    const struct otelctx_span text = {exact, size};
    size_t pos;
    int err;

    memcpy(exact, data, size);
    memset(&before, 0xa5, sizeof(before));
    out = before;
    pos = fault_of(text);
    err = otelctx_traceparent_parse(text, &out, &fault);
    require(err == (pos ? -EINVAL : 0));
    if (err) {
        require(fault.pos == pos);
        require(fault.why && fault.why[0]);
        require(memcmp(&out, &before, sizeof(out)) == 0);
    } else {
        check_values(text, &out);
    }
    free(exact);
    return 0;
}
