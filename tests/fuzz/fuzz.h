/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the fuzz targets share. */

#include "config/span.h"
#include "demo/base/utf8.h"
#include "demo/reader/command/show.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool holds)
{
    if (!holds)
        abort();
}

/* Removes up to size bytes from the start of data. */
static inline struct otelctx_span take_bytes(struct otelctx_span *data,
                                             size_t size)
{
    const struct otelctx_span taken = {data->at,
                                       size < data->size ? size : data->size};

    data->at += taken.size;
    data->size -= taken.size;
    return taken;
}

static inline uint8_t take_byte(struct otelctx_span *data)
{
    const struct otelctx_span byte = take_bytes(data, 1);

    return byte.size ? (uint8_t)byte.at[0] : 0;
}

static inline size_t take_size(struct otelctx_span *data)
{
    const size_t low = take_byte(data);

    return low | (size_t)take_byte(data) << 8;
}

/* Nothing that a terminal obeys, and UTF-8 throughout. */
static inline bool is_harmless(const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        uint32_t code = 0;
        const size_t length =
            otelbase_utf8_next((const uint8_t *)text + at, size - at, &code);

        if (length == 0 || (code < 0x20 && code != '\n') ||
            (code >= 0x7f && code <= 0x9f) ||
            (code >= 0x202a && code <= 0x202e) ||
            (code >= 0x2066 && code <= 0x2069))
            return false;
        at += length;
    }
    return true;
}

/* Prints the report, which must be harmless. Returns the number of lines. */
static inline size_t print(otelread_printer *printer,
                           const struct otelread_report *report)
{
    char *text = NULL;
    size_t size = 0;
    size_t lines = 0;
    FILE *const out = open_memstream(&text, &size);

    require(out);
    printer(out, report);
    require(fclose(out) == 0);
    require(is_harmless(text, size));
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}
