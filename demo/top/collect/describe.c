/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/collect/describe.h"

#include "demo/base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what /proc says ---------------------------------------------------- */

/* Reads the start of a small file, and ends it with a NUL. Returns the bytes
 * read, or 0. */
static size_t file_read(const struct otelread_target *target, const char *file,
                        char *out, size_t size)
{
    const int fd = otelread_target_file(target, file);
    size_t total = 0;
    ssize_t got = 1;

    if (fd < 0)
        return 0;
    while (total < size - 1 && got > 0) {
        got = read(fd, out + total, size - 1 - total);
        if (got > 0)
            total += (size_t)got;
    }
    (void)close(fd);
    out[total] = '\0';
    return total;
}

/* A copy with question marks for bytes that are not UTF-8. */
static char *text_of(const uint8_t *bytes, size_t size)
{
    char *const text = malloc(size + 1);
    uint32_t code;

    for (size_t at = 0; text && at < size;) {
        const size_t step = otelbase_utf8_next(bytes + at, size - at, &code);

        if (step == 0 || code == 0)
            text[at++] = '?';
        else
            for (size_t i = 0; i < step; i++, at++)
                text[at] = (char)bytes[at];
    }
    if (text)
        text[size] = '\0';
    return text;
}

/* The arguments; or the name of a process without any, like a kernel thread. */
static char *command_of(const struct otelread_target *target)
{
    char text[512];
    size_t size = file_read(target, "cmdline", text, sizeof(text));

    while (size > 0 && text[size - 1] == '\0')
        size--;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\0' || text[i] == '\n')
            text[i] = ' ';
    }
    if (size == 0)
        return text_of((const uint8_t *)target->command,
                       strlen(target->command));
    return text_of((const uint8_t *)text, size);
}

/* Runtimes name a container's cgroup by the 64 digits of its id. */
static char *container_of(const char *cgroup)
{
    const size_t digits = 64;

    for (const char *at = cgroup; *at != '\0'; at++) {
        const size_t size = strspn(at, "0123456789abcdefABCDEF");

        if (size == digits)
            return strndup(at, 12);
        if (size > 0)
            at += size - 1;
    }
    return NULL;
}

/*
 * Kubernetes: ".../kubepods/burstable/podUID/...", or for systemd
 * ".../kubepods-burstable-podUID.slice/...", with underscores for hyphens.
 */
static char *pod_of(const char *cgroup)
{
    const char *at = strstr(cgroup, "kubepods");

    while (at && (at = strstr(at, "pod")) && at[-1] != '-' && at[-1] != '/')
        at++;
    if (!at)
        return NULL;
    at += strlen("pod");
    char *const pod = strndup(at, strspn(at, "0123456789abcdef-_"));
    if (!pod)
        return NULL;
    for (char *i = pod; *i; i++)
        if (*i == '_')
            *i = '-';
    return pod;
}

/* The path in the unified hierarchy, or that of the first controller. */
static char *cgroup_of(const struct otelread_target *target)
{
    char text[4096];

    if (file_read(target, "cgroup", text, sizeof(text)) == 0)
        return NULL;

    const char *line = strstr(text, "0::");
    line = line ? line + strlen("0::") : strchr(text, '/');
    if (!line)
        return NULL;
    return text_of((const uint8_t *)line, strcspn(line, "\n"));
}

void oteltop_describe_process(struct oteltop_process *process,
                              const struct otelread_target *target)
{
    free(process->command);
    free(process->cgroup);
    free(process->container);
    free(process->pod);
    process->container = process->pod = NULL;
    process->command = command_of(target);
    process->cgroup = cgroup_of(target);
    if (process->cgroup) {
        process->container = container_of(process->cgroup);
        process->pod = pod_of(process->cgroup);
    }
}

/* ---- contexts ----------------------------------------------------------- */

static char *value_of(const struct otelread_node *node)
{
    char text[64];

    switch (node->kind) {
    case OTELREAD_STRING:
        return text_of(node->span.bytes, node->span.size);
    case OTELREAD_BOOL:
        return strdup(node->truth ? "true" : "false");
    case OTELREAD_INT:
        (void)snprintf(text, sizeof(text), "%" PRId64, node->integer);
        return strdup(text);
    case OTELREAD_DOUBLE:
        (void)snprintf(text, sizeof(text), "%.17g", node->real);
        return strdup(text);
    default:
        return strdup("...");
    }
}

static int add_list(struct oteltop_attributes *attributes,
                    const struct otelread_list *list)
{
    int error = 0;

    for (const struct otelread_node *node = list->first; node && error == 0;
         node = node->next) {
        char *const key = text_of(node->key.bytes, node->key.size);
        char *const value = value_of(node);

        error = key && value ? oteltop_attributes_add(attributes, key, value)
                             : -ENOMEM;
        free(key);
        free(value);
    }
    return error;
}

int oteltop_describe_context(struct oteltop_process *process,
                             const struct otelread_report *report)
{
    int error = 0;

    oteltop_attributes_free(&process->resource);
    free(process->context);
    process->context = strdup(otelread_status_name(report->status));
    if (report->status == OTELREAD_OK)
        error = add_list(&process->resource,
                         &report->contexts.list[0].decoded.resource);

    const char *const pod =
        oteltop_attributes_find(&process->resource, "k8s.pod.name");
    if (pod) {
        free(process->pod);
        process->pod = strdup(pod);
    }
    process->is_recorded = false;
    return error != 0 || !process->context ? -ENOMEM : 0;
}

/* ---- threads ------------------------------------------------------------ */

static void put_number(uint8_t *out, uint64_t number)
{
    for (size_t i = 8; i-- > 0; number >>= 8)
        out[i] = (uint8_t)number;
}

static const char *describe_record(struct oteltop_span *span,
                                   const struct otelread_thread *thread)
{
    if (thread->status != OTELREAD_THREAD_ATTACHED)
        return otelread_thread_status_name(thread->status);

    const struct otelctx_record_head *const head = &thread->record.head;
    memcpy(span->trace_id, head->trace_id, sizeof(span->trace_id));
    memcpy(span->span_id, head->span_id, sizeof(span->span_id));
    span->flags = head->trace_flags;
    return add_list(&span->attributes, &thread->meaning.attributes) == 0
               ? NULL
               : "no_memory";
}

const char *oteltop_describe_span(struct oteltop_span *span,
                                  const struct otelread_thread *thread,
                                  bool has_tls)
{
    const struct otelread_storages *const storages = &thread->storages;

    *span = (struct oteltop_span){.number = 0};
    if (has_tls)
        return describe_record(span, thread);
    if (storages->ring_status == OTELREAD_SLOT_ATTACHED) {
        put_number(span->trace_id, storages->ring.trace_id_high);
        put_number(span->trace_id + 8, storages->ring.trace_id_low);
        put_number(span->span_id, storages->ring.span_id);
        return NULL;
    }
    if (storages->profiler_status == OTELREAD_PROFILED_ATTACHED) {
        put_number(span->trace_id + 8, storages->profiler.root_span_id);
        put_number(span->span_id, storages->profiler.span_id);
        return NULL;
    }
    return storages->ring_status != OTELREAD_SLOT_NONE
               ? otelread_slot_status_name(storages->ring_status)
               : otelread_profiled_status_name(storages->profiler_status);
}
