/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/context.h"

#include "demo/reader/escape.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static void
judge(struct otelread_context *context, enum otelread_status status,
      const char *format, ...)
{
    va_list arguments;

    context->status = status;
    va_start(arguments, format);
    (void)vsnprintf(context->why, sizeof(context->why), format, arguments);
    va_end(arguments);
}

static bool is_established(const struct otelctx_header *header)
{
    return memcmp(header->signature, OTELCTX_SIGNATURE,
                  OTELCTX_SIGNATURE_SIZE) == 0 &&
           header->version == OTELCTX_HEADER_VERSION;
}

static void judge_header(struct otelread_context *context)
{
    const struct otelctx_header *const header = &context->header;
    char signature[4 * OTELCTX_SIGNATURE_SIZE + 1];

    otelread_escape_copy(signature, sizeof(signature), header->signature,
                         sizeof(header->signature));
    if (is_established(header))
        judge(context, OTELREAD_OK, "%s", "");
    else if (memcmp(header->signature, OTELCTX_SIGNATURE,
                    OTELCTX_SIGNATURE_SIZE) != 0)
        judge(context, OTELREAD_INVALID,
              "its signature is \"%s\", not \"" OTELCTX_SIGNATURE "\"",
              signature);
    else
        judge(context, OTELREAD_INVALID,
              "its version is %u, only %d is supported", header->version,
              OTELCTX_HEADER_VERSION);
}

int otelread_context_validate(struct otelread_target *target,
                              struct otelread_context *context)
{
    const int error =
        otelread_target_read(target, context->mapping.start, &context->header,
                             sizeof(context->header));

    context->has_header = error == 0;
    context->established = error == 0 && is_established(&context->header);
    if (error == 0)
        judge_header(context);
    else if (error == -EFAULT)
        judge(context, OTELREAD_INVALID, "its header cannot be read");
    return error;
}

static int read_timestamp(struct otelread_target *target,
                          const struct otelread_context *context,
                          uint64_t *published_at_ns)
{
    return otelread_target_read(
        target,
        context->mapping.start +
            offsetof(struct otelctx_header, published_at_ns),
        published_at_ns, sizeof(*published_at_ns));
}

/* Step 5. A payload out of reach is no failure until step 7 was passed. */
static int read_payload(struct otelread_target *target,
                        struct otelread_context *context)
{
    const struct otelctx_header *const header = &context->header;

    free(context->payload);
    context->payload = NULL;
    if (header->payload_size == 0 ||
        header->payload_size > OTELCTX_PAYLOAD_MAX || header->payload == 0)
        return 0;

    context->payload = malloc(header->payload_size);
    if (context->payload == NULL)
        return -ENOMEM;

    const int error = otelread_target_read(
        target, header->payload, context->payload, header->payload_size);
    if (error != 0) {
        free(context->payload);
        context->payload = NULL;
    }
    return error == -EFAULT ? 0 : error;
}

/* One pass of steps 2 to 7. Returns 1 when it was consistent, 0 or -errno. */
static int try_read(struct otelread_target *target,
                    struct otelread_context *context)
{
    uint64_t before = 0;
    uint64_t after = 0;

    int error = read_timestamp(target, context, &before);
    if (error != 0 || before == 0)
        return error;

    atomic_thread_fence(memory_order_seq_cst); /* step 4 */
    error = otelread_target_read(target, context->mapping.start,
                                 &context->header, sizeof(context->header));
    if (error != 0)
        return error;
    if (!is_established(&context->header))
        return -ENOENT;
    error = read_payload(target, context);
    if (error != 0)
        return error;

    atomic_thread_fence(memory_order_seq_cst); /* step 6 */
    error = read_timestamp(target, context, &after);
    context->header.published_at_ns = before;
    return error != 0 ? error : after == before;
}

static void judge_fault(struct otelread_context *context)
{
    const struct otelread_fault *const fault = &context->fault;

    judge(context, OTELREAD_INVALID, "payload byte %zu: %s%s%s", fault->offset,
          fault->why, fault->where[0] != '\0' ? ", in " : "", fault->where);
}

/* Step 8, of a header and a payload that belong together. */
static void judge_payload(struct otelread_context *context)
{
    const struct otelctx_header *const header = &context->header;

    if (header->payload_size == 0)
        judge(context, OTELREAD_INVALID, "the payload size is 0");
    else if (header->payload_size > OTELCTX_PAYLOAD_MAX)
        judge(context, OTELREAD_INVALID,
              "the payload size is %u bytes, more than %d",
              header->payload_size, OTELCTX_PAYLOAD_MAX);
    else if (header->payload == 0)
        judge(context, OTELREAD_INVALID, "the payload pointer is null");
    else if (context->payload == NULL)
        judge(context, OTELREAD_INVALID,
              "the payload (%u bytes at 0x%llx) cannot be read",
              header->payload_size, (unsigned long long)header->payload);
    else if (otelread_decode(context->payload, header->payload_size,
                             &context->decoded, &context->fault) == 0)
        judge(context, OTELREAD_OK, "%s", "");
    else if (otelread_fault_found(&context->fault))
        judge_fault(context);
    else
        judge(context, OTELREAD_ERROR, "out of memory");
}

static void judge_busy(struct otelread_context *context, unsigned tries)
{
    const bool zero = context->header.published_at_ns == 0;

    otelread_context_free(context);
    judge(context, OTELREAD_BUSY,
          "being written: its timestamp %s through %u tries",
          zero ? "stayed zero" : "kept changing", tries);
}

int otelread_context_read(struct otelread_target *target,
                          struct otelread_patience patience,
                          struct otelread_context *context)
{
    int result;

    otelread_context_free(context);
    context->header.published_at_ns = 0;
    do {
        result = try_read(target, context);
    } while ((result == 0 || result == -ENOENT) &&
             otelread_patience_left(&patience));

    context->read_at_ns = otelread_boottime_ns();
    if (result == 1)
        judge_payload(context);
    else if (result == 0)
        judge_busy(context, patience.tries);
    else if (result == -ENOMEM)
        judge(context, OTELREAD_ERROR, "out of memory");
    return result == -ENOMEM || result > 0 ? 0 : result;
}

void otelread_context_free(struct otelread_context *context)
{
    otelread_decoded_free(&context->decoded);
    free(context->payload);
    context->payload = NULL;
    context->fault = (struct otelread_fault){.offset = 0};
}
