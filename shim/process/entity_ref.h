/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Entities in the payload: their attributes are attributes of the Resource, and
 * an EntityRef names the keys that belong to an entity. Begin with the last
 * entity, because what that one says counts.
 * Rule: OpenTelemetry specification, "Entity Propagation", "Error Handling".
 */

#include "config/entities.h"
#include "shim/process/payload.h"

/*
 * Add an entity and its attributes.
 *
 * text   where the text begins that the entity is in
 * fault  where in that text, and what was expected; NULL with -EPERM and
 * -ENOSPC
 *
 * Returns 0, 1 (some of its descriptive attributes have another value in a
 * later entity and were left out: fault) or -errno, with part of it added:
 * -EEXIST (a later entity has the same type and identity, or another value for
 * an identifying attribute), -EINVAL (malformed attribute), or as
 * otelctx_payload_set().
 */
int otelctx_entity_ref_add(struct otelctx_payload *payload,
                           const struct otelctx_entity *entity,
                           const char *text, struct otelctx_fault *fault);
