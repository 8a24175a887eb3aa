/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/context.h"

#include "demo/base/escape.h"
#include "demo/reader/os/clock.h"
#include "demo/reader/os/memory.h"
#include "demo/reader/report/judge.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static bool is_established(const struct otelctx_header *header)
{
    return memcmp(header->signature, OTELCTX_SIGNATURE,
                  OTELCTX_SIGNATURE_SIZE) == 0 &&
           (header->version == OTELCTX_HEADER_VERSION || header->version == 1);
}

static void judge_header(struct otelread_context *context)
{
    const struct otelctx_header *const header = &context->header;
    char signature[4 * OTELCTX_SIGNATURE_SIZE + 1];

    otelbase_escape_copy(signature, sizeof(signature), header->signature,
                         sizeof(header->signature));
    if (is_established(header))
        otelread_judge(context, OTELREAD_OK, "%s", "");
    else if (memcmp(header->signature, OTELCTX_SIGNATURE,
                    OTELCTX_SIGNATURE_SIZE) != 0)
        otelread_judge(context, OTELREAD_INVALID,
                       "its signature is \"%s\", not \"" OTELCTX_SIGNATURE "\"",
                       signature);
    else
        otelread_judge(context, OTELREAD_INVALID,
                       "its version is %u, only %d and 1 are supported",
                       header->version, OTELCTX_HEADER_VERSION);
}

/* Whether it is the header of a context; context->header is what it says. */
static bool take_header(struct otelread_context *context)
{
    (void)memcpy(&context->header, &context->raw, sizeof(context->header));
    context->layout = OTELREAD_LAYOUT_ACCEPTED;
    if (!is_established(&context->header))
        return false;
    context->layout = otelread_layout_read(&context->raw, &context->header);
    return true;
}

int otelread_context_validate(struct otelread_target *target,
                              struct otelread_context *context)
{
    const int error =
        context->mapping.permissions[0] == 'r'
            ? otelread_memory_read_mapping(target, &context->mapping,
                                           context->mapping.start,
                                           &context->raw, sizeof(context->raw))
            : -EFAULT;

    context->has_header = error == 0;
    context->established = error == 0 && take_header(context);
    if (error == 0)
        judge_header(context);
    else if (error == -EFAULT)
        otelread_judge(context, OTELREAD_INVALID, "its header cannot be read");
    return error;
}

#define STAMP offsetof(struct otelctx_header, published_at_ns)

uint64_t otelread_context_stamp(const struct otelread_context *context)
{
    uint64_t stamp;

    (void)memcpy(&stamp, context->raw.bytes + STAMP, sizeof(stamp));
    return stamp;
}

/*
 * OTEP 4719's timestamp. Older forms have there half of the time and the size,
 * or the address of the payload: never 0, and another one in another context,
 * which they publish in a new mapping.
 */
static int read_stamp(struct otelread_target *target,
                      const struct otelread_context *context, uint64_t *stamp)
{
    return otelread_memory_read_mapping(target, &context->mapping,
                                        context->mapping.start + STAMP, stamp,
                                        sizeof(*stamp));
}

/* Whether the payload is in the mapping of the header, known to be readable. */
static bool is_payload_in_mapping(const struct otelread_context *context)
{
    const struct otelctx_header *const header = &context->header;
    const struct otelread_mapping *const mapping = &context->mapping;

    return header->payload >= mapping->start &&
           header->payload < mapping->end &&
           header->payload_size <= mapping->end - header->payload;
}

/* Step 5. An unreadable payload is a fault only if step 7 finds no change. */
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
    if (!context->payload)
        return -ENOMEM;

    const int error =
        is_payload_in_mapping(context)
            ? otelread_memory_read_mapping(target, &context->mapping,
                                           header->payload, context->payload,
                                           header->payload_size)
            : otelread_memory_read_unprotected(target, header->payload,
                                               context->payload,
                                               header->payload_size);
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

    int error = read_stamp(target, context, &before);
    if (error != 0 || before == 0)
        return error;

    atomic_thread_fence(memory_order_seq_cst); /* step 4 */
    error = otelread_memory_read_mapping(target, &context->mapping,
                                         context->mapping.start, &context->raw,
                                         sizeof(context->raw));
    if (error != 0)
        return error;
    (void)memcpy(context->raw.bytes + STAMP, &before, sizeof(before));
    if (!take_header(context))
        return -ENOENT;
    error = read_payload(target, context);
    if (error != 0)
        return error;

    atomic_thread_fence(memory_order_seq_cst); /* step 6 */
    error = read_stamp(target, context, &after);
    return error != 0 ? error : after == before;
}

static void judge_fault(struct otelread_context *context)
{
    const struct otelread_fault *const fault = &context->fault;

    otelread_judge(context, OTELREAD_INVALID, "payload byte %zu: %s%s%s",
                   fault->offset, fault->why,
                   fault->where[0] != '\0' ? ", in " : "", fault->where);
}

/* Step 8, of a header and a payload that belong together. */
static void judge_payload(struct otelread_context *context)
{
    const struct otelctx_header *const header = &context->header;

    if (header->payload_size == 0)
        otelread_judge(context, OTELREAD_INVALID, "the payload size is 0");
    else if (header->payload_size > OTELCTX_PAYLOAD_MAX)
        otelread_judge(context, OTELREAD_INVALID,
                       "the payload size is %u bytes, more than %d",
                       header->payload_size, OTELCTX_PAYLOAD_MAX);
    else if (header->payload == 0)
        otelread_judge(context, OTELREAD_INVALID,
                       "the payload pointer is null");
    else if (!context->payload)
        otelread_judge(context, OTELREAD_INVALID,
                       "the payload (%u bytes at 0x%llx) cannot be read",
                       header->payload_size,
                       (unsigned long long)header->payload);
    else if (otelread_layout_decode(context->layout, context->payload,
                                    header->payload_size, &context->decoded,
                                    &context->fault, &context->bare) == 0)
        otelread_judge(context, OTELREAD_OK, "%s", "");
    else if (otelread_fault_found(&context->fault))
        judge_fault(context);
    else
        otelread_judge(context, OTELREAD_ERROR, "out of memory");
}

/* Its fields were taken for others by chance. */
static void judge_as_accepted(struct otelread_context *context)
{
    otelread_context_free(context);
    context->layout = OTELREAD_LAYOUT_ACCEPTED;
    (void)memcpy(&context->header, &context->raw, sizeof(context->header));
    judge_payload(context);
}

static uint64_t now_of(const struct otelread_target *target,
                       const struct otelread_context *context)
{
    if (otelread_layout_is_realtime(context->header.published_at_ns))
        return otelread_realtime_ns();
    return otelread_boottime_ns() +
           (uint64_t)otelread_boottime_ahead_ns(target->task);
}

static void judge_busy(struct otelread_context *context, unsigned tries)
{
    const bool zero = otelread_context_stamp(context) == 0;

    otelread_context_free(context);
    otelread_judge(context, OTELREAD_BUSY,
                   "being written: its timestamp %s through %u tries",
                   zero ? "stayed zero" : "kept changing", tries);
}

int otelread_context_read(struct otelread_target *target,
                          struct otelread_patience patience,
                          struct otelread_context *context)
{
    int result;

    otelread_context_free(context);
    (void)memset(context->raw.bytes + STAMP, 0, sizeof(uint64_t));
    do {
        result = try_read(target, context);
    } while ((result == 0 || result == -ENOENT) &&
             otelread_patience_left(&patience));

    if (result == 1) {
        context->read_at_ns = now_of(target, context);
        judge_payload(context);
        if (context->layout == OTELREAD_LAYOUT_PACKED &&
            context->status == OTELREAD_INVALID)
            judge_as_accepted(context);
    } else if (result == 0)
        judge_busy(context, patience.tries);
    else if (result == -ENOMEM)
        otelread_judge(context, OTELREAD_ERROR, "out of memory");
    return result == -ENOMEM || result > 0 ? 0 : result;
}

void otelread_context_free(struct otelread_context *context)
{
    otelread_decoded_free(&context->decoded);
    free(context->payload);
    context->payload = NULL;
    context->fault = (struct otelread_fault){.offset = 0};
}
