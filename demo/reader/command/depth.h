/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Whether to read the threads, too, and how. */
enum otelread_depth {
    OTELREAD_DEPTH_PROCESS,
    OTELREAD_DEPTH_STOPPED,
    OTELREAD_DEPTH_RUNNING,
};
