/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/injector.h"

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

/* A list of attributes, as OTEL_RESOURCE_ATTRIBUTES is one; what is malformed
 * in it ends it. */
static void add_list(struct otelrun_environment *e, const char *text)
{
    const struct otelctx_span all = otelctx_span_from(text ? text : "");
    char *const scratch = otelrun_allocate(all.size + 1, 1);
    struct otelctx_attrs it = otelctx_attrs_begin(all, scratch, all.size);
    struct otelctx_pair pair;
    struct otelctx_fault fault;

    while (otelctx_attrs_next(&it, &pair, &fault) > 0)
        otelrun_attributes_add(
            e, otelrun_format("%.*s", (int)pair.key.size, pair.key.at),
            otelrun_format("%.*s", (int)pair.value.size, pair.value.at));
}

void otelrun_injector_apply(struct otelrun_environment *e)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        otelrun_attributes_add(e, table[i].key,
                               otelrun_environment_get(e, table[i].variable));
    add_list(e,
             otelrun_environment_get(e, "OTEL_INJECTOR_RESOURCE_ATTRIBUTES"));
}
