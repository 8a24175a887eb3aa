/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_VERSIONS_H
#define OTELCTX_PROCESS_VERSIONS_H

/*
 * The attributes are kept in three versions: the published one, the staged one
 * and the one being edited. They change places by one store: so a child that
 * was forked in the middle of anything finds versions that are whole.
 *
 * The caller holds the lock.
 */

#include "shim/process/payload.h"

const struct otelctx_payload *otelctx_versions_published(void);
const struct otelctx_payload *otelctx_versions_staged(void);

/* A copy of the staged version, to be changed; forgotten unless staged. */
struct otelctx_payload *otelctx_versions_edit(void);

/* The version being edited, as otelctx_versions_edit() has returned it. */
struct otelctx_payload *otelctx_versions_edited(void);

/* The edited version becomes the staged one, the staged one the published one.
 */
void otelctx_versions_stage(void);
void otelctx_versions_publish(void);

#endif
