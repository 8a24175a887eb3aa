/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/identity.h"

#include "config/utf8.h"
#include "shim/base/host.h"
#include "shim/process/instance_id.h"
#include "shim/process/state.h"

static int set_default_name(struct otelctx_payload *payload)
{
    const struct otelctx_span prefix = OTELCTX_SPAN("unknown_service:");
    const struct otelctx_span executable = otelctx_host_executable();
    char *text = otelctx_state_scratch(prefix.size + executable.size);
    struct otelctx_span name = {text, prefix.size + executable.size};

    memcpy(text, prefix.at, prefix.size);
    memcpy(text + prefix.size, executable.at, executable.size);
    if (executable.size == 0 ||
        otelctx_utf8_valid(executable) < executable.size)
        name.size = prefix.size - 1; /* without the colon */
    return otelctx_payload_set(payload, OTELCTX_RESOURCE,
                               OTELCTX_SPAN("service.name"), name);
}

/* Returns false if the id does not fit; true also if none is wanted, or none
 * can be made. */
static bool add_instance_id(struct otelctx_payload *payload)
{
    struct otelctx_span id;

    (void)otelctx_instance_id_make();
    id = otelctx_instance_id();
    return id.size == 0 ||
           otelctx_payload_set(payload, OTELCTX_RESOURCE,
                               OTELCTX_SPAN(OTELCTX_INSTANCE_KEY), id) == 0;
}

int otelctx_identity_complete(struct otelctx_payload *payload)
{
    int err = 0;

    payload->is_complete = true;
    if (!otelctx_payload_has(payload, OTELCTX_RESOURCE,
                             OTELCTX_SPAN("service.name")))
        err = set_default_name(payload);
    if (!err && !otelctx_payload_has(payload, OTELCTX_RESOURCE,
                                     OTELCTX_SPAN(OTELCTX_INSTANCE_KEY)))
        payload->is_complete = add_instance_id(payload);
    return err;
}

void otelctx_identity_renew(void)
{
    const struct otelctx_publication *const p = otelctx_state_publication();
    char old[OTELCTX_INSTANCE_SIZE];

    otelctx_state_set_own_id(true);
    if (!otelctx_instance_id_renew(old))
        return;
    for (unsigned i = 0; i < 3; i++)
        otelctx_instance_id_replace(
            otelctx_state_version[i].bytes,
            otelctx_payload_used(&otelctx_state_version[i]), old);
    /* Only a child that continues its parent's call has a mapping here. */
    if (p->mapping.at)
        otelctx_instance_id_replace(p->mapping.at, p->mapping.size, old);
    if (p->large)
        otelctx_instance_id_replace(p->large, (size_t)2 * OTELCTX_PAYLOAD_MAX,
                                    old);
}
