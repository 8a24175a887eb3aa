/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A payload, decoded and printed in all three ways: JSON must be one line of
 * valid UTF-8, and what is for people must not hold what a terminal obeys.
 */
#include "demo/reader/print/json.h"
#include "demo/reader/print/raw.h"
#include "demo/reader/print/text.h"
#include "demo/reader/report/judge.h"
#include "tests/fuzz/fuzz.h"

/* The command and the mapping's name are the target's, too. */
static void take_text(char *out, size_t room, const uint8_t *data, size_t size)
{
    memset(out, 0, room);
    memcpy(out, data, size < room ? size : room - 1);
}

static void judge(struct otelread_context *context,
                  struct otelread_report *report)
{
    const int error = otelread_layout_decode(
        context->layout, context->payload, context->header.payload_size,
        &context->decoded, &context->fault, &context->bare);

    require(error == 0 || error == -EBADMSG);
    require((error != 0) == otelread_fault_found(&context->fault));
    context->status = OTELREAD_OK;
    otelread_judge(report, OTELREAD_OK, "%s", "");
    if (error == 0)
        return;
    require(context->fault.offset <= context->header.payload_size);
    context->status = OTELREAD_INVALID;
    (void)snprintf(context->message, sizeof(context->message), "%s in %s",
                   context->fault.why, context->fault.where);
    otelread_judge(report, OTELREAD_INVALID, "%s", context->message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > OTELCTX_PAYLOAD_MAX)
        return 0;

    /* Not data itself, so that the sanitizer knows where it ends. */
    uint8_t *const payload = malloc(size);
    struct otelread_context context = {
        .has_header = true,
        .header = {.payload_size = (uint32_t)size},
        .payload = payload,
    };
    struct otelread_report report = {
        .contexts = {.list = &context, .count = 1}};

    if (!payload)
        abort();
    memcpy(payload, data, size);
    take_text(report.target.command, sizeof(report.target.command), data, size);
    take_text(context.mapping.name, sizeof(context.mapping.name), data, size);
    memcpy(context.header.signature, data, size < 8 ? size : 8);
    memcpy(&context.raw, data,
           size < sizeof(context.raw) ? size : sizeof(context.raw));
    for (int i = 0; i <= OTELREAD_LAYOUT_FIRST; i++) {
        context.layout = (enum otelread_layout)i;
        judge(&context, &report);
        require(print(otelread_json_print, &report) == 1);
        (void)print(otelread_text_print, &report);
        (void)print(otelread_raw_print, &report);
        otelread_decoded_free(&context.decoded);
    }
    free(payload);
    return 0;
}
