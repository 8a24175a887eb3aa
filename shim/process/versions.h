/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Three versions of the attributes: the published one, the staged one and the
 * one being edited. One store exchanges their roles, so that a child forked at
 * any moment finds complete versions.
 *
 * The caller holds the lock.
 */

#include "shim/process/payload.h"

const struct otelctx_payload *otelctx_versions_published(void);
const struct otelctx_payload *otelctx_versions_staged(void);

/* Copy the staged version for editing. Without otelctx_versions_stage() the
 * changes are lost. */
struct otelctx_payload *otelctx_versions_edit(void);

/* The version being edited, as otelctx_versions_edit() has returned it. */
struct otelctx_payload *otelctx_versions_edited(void);

/* The edited version becomes the staged one, the staged one the published one.
 */
void otelctx_versions_stage(void);
void otelctx_versions_publish(void);
