/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/scenes/scenes.h"

const struct otelkit_scene *const otelkit_scenes[] = {
    otelkit_mapping_scenes, otelkit_file_scenes,
    otelkit_header_scenes,  otelkit_place_scenes,
    otelkit_payload_scenes, otelkit_moving_scenes,
    otelkit_threads_scenes, otelkit_records_scenes,
    otelkit_ring_scenes,    NULL,
};
