/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The groups of scenes. A scene is a row: a function that sets the stage, what
 * to do (how), and what a right reader answers. The last row has no name.
 */

#include "demo/kit/stage/stage.h"

extern const struct otelkit_scene otelkit_mapping_scenes[];
extern const struct otelkit_scene otelkit_file_scenes[];
extern const struct otelkit_scene otelkit_header_scenes[];
extern const struct otelkit_scene otelkit_place_scenes[];
extern const struct otelkit_scene otelkit_payload_scenes[];
extern const struct otelkit_scene otelkit_moving_scenes[];
extern const struct otelkit_scene otelkit_threads_scenes[];
extern const struct otelkit_scene otelkit_records_scenes[];
extern const struct otelkit_scene otelkit_ring_scenes[];

#define OTELKIT_ABOUT(name_, stage_, answer_, rule_)                           \
    .about = {.name = (name_),                                                 \
              .stage = (stage_),                                               \
              .answer = (answer_),                                             \
              .rule = (rule_)}

#define OTELKIT_PUBLICATION "OTEP 4719, Publication Protocol"
#define OTELKIT_READING     "OTEP 4719, Reading Protocol"
#define OTELKIT_UPDATING    "OTEP 4719, Updating Protocol"
#define OTELKIT_HEADER      "OTEP 4719, Header Structure"
