/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/injector.h"

#include <errno.h>

#include "config/attrs.h"
#include "demo/run/attributes.h"
#include "demo/run/memory.h"

/* Of two variables that name one attribute the first counts. */
static const struct {
    const char *variable, *key;
} table[] = {
    {"OTEL_INJECTOR_SERVICE_NAME", "service.name"},
    {"OTEL_INJECTOR_SERVICE_VERSION", "service.version"},
    {"OTEL_INJECTOR_SERVICE_NAMESPACE", "service.namespace"},
    {"OTEL_INJECTOR_K8S_NAMESPACE_NAME", "k8s.namespace.name"},
    {"OTEL_INJECTOR_K8S_POD_NAME", "k8s.pod.name"},
    {"OTEL_INJECTOR_K8S_POD_UID", "k8s.pod.uid"},
    {"OTEL_INJECTOR_K8S_CONTAINER_NAME", "k8s.container.name"},
    {"OTEL_RESOURCE_ATTRIBUTES_POD_NAME", "k8s.pod.name"},
    {"OTEL_RESOURCE_ATTRIBUTES_POD_UID", "k8s.pod.uid"},
    {"OTEL_RESOURCE_ATTRIBUTES_NODE_NAME", "k8s.node.name"},
};

/* A list of attributes, as OTEL_RESOURCE_ATTRIBUTES is one: all of it, or
 * after a fault none of it. */
static int add_list(struct otelrun_environment *e, const char *text,
                    struct otelctx_fault *fault)
{
    const struct otelctx_span all = otelctx_span_from(text ? text : "");
    char *const scratch = otelrun_allocate(all.size + 1, 1);
    struct otelctx_attrs it = otelctx_attrs_begin(all, scratch, all.size);
    const struct otelrun_environment before = *e;
    struct otelctx_pair pair;
    int got;

    while ((got = otelctx_attrs_next(&it, &pair, fault)) > 0) {
        const char *const why = otelrun_attributes_refuse(pair.key, pair.value);

        if (why) {
            *fault = (struct otelctx_fault){pair.pos, why};
            got = -EINVAL;
            break;
        }
        otelrun_attributes_add(
            e, otelrun_format("%.*s", (int)pair.key.size, pair.key.at),
            otelrun_format("%.*s", (int)pair.value.size, pair.value.at));
    }
    if (got < 0)
        *e = before; /* its strings are never changed in place */
    return got;
}

int otelrun_injector_apply(struct otelrun_environment *e,
                           struct otelctx_fault *fault)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        otelrun_attributes_add(e, table[i].key,
                               otelrun_environment_get(e, table[i].variable));
    return add_list(e, otelrun_environment_get(e, OTELRUN_INJECTOR_LIST),
                    fault);
}
