/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"

/*
 * The format of OTEL_ENTITIES.
 *
 *   entities   = entity *( ";" entity )   ; empty entities count for nothing
 *   entity     = name "{" list "}" [ "[" list "]" ] [ "@" schema-url ]
 *   list       = member *( "," member )
 *   member     = name "=" value
 *   name       = ALPHA *( ALPHA / DIGIT / "." / "_" / "-" )
 *   value      = *any byte but "{" "}" "[" "]" "@" ";" "," "="
 *   schema-url = *any byte but ";"
 *
 * No name occurs twice in an entity, which has at most
 * OTELCTX_ENTITY_NAMES_MAX. A member is also an attribute of
 * OTEL_RESOURCE_ATTRIBUTES, and attrs.h decodes it. Rule: OpenTelemetry
 * specification, "Entity Propagation", "Grammar".
 */
enum {
    OTELCTX_ENTITIES_MAX = 64, /* entities that are not empty */
    OTELCTX_ENTITY_NAMES_MAX = 64
};
#define OTELCTX_ENTITIES_EXPECTS "at most 64 entities, of which the last count"

struct otelctx_entity {
    struct otelctx_span type;
    struct otelctx_span ids;          /* identifying: a list */
    struct otelctx_span descriptions; /* descriptive: a list, or empty */
    struct otelctx_span schema_url;   /* at is NULL without "@" */
};

/* Take the last entity off a text. The last of several contradicting entities
 * counts, so a caller that begins with the last never has to undo one. Returns
 * 1, 0 at the end, or -EINVAL (malformed: fault says where in the text and
 * why); the next call goes on before that entity. */
int otelctx_entities_take(struct otelctx_span *text, struct otelctx_entity *out,
                          struct otelctx_fault *fault);

/* Take the last member off a list; it is empty when the list is. */
struct otelctx_span otelctx_entities_take_member(struct otelctx_span *list);

/* Return whether a member of the list has this name. */
bool otelctx_entities_has(struct otelctx_span list, struct otelctx_span name);

/* Return whether text is a URI, judged by its scheme and its characters. Rule:
 * RFC 3986, "Syntax Components". */
bool otelctx_entities_is_uri(struct otelctx_span text);
