#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: tests/bench/sdk/java.sh [JAVA]
#
# What the bridge for Java costs, in nanoseconds for each makeCurrent() and close(), without and with it in one run.
# OTELCTX_BUILD names the build folder, if it is not build/.
set -eu

ROOT=$(cd "$(dirname "$0")/../../.." && pwd)
BUILD=${OTELCTX_BUILD:-$ROOT/build}
# shellcheck source=tests/e2e/sdk/java/build.sh
. "$ROOT/tests/e2e/sdk/java/build.sh"

build_java_bridge
build_java_programs new
path=$(class_path new 'opentelemetry-[a-i]*' 'opentelemetry-sdk*')
for attributes in '' http.route; do
    echo "attributes: ${attributes:-none}"
    LD_PRELOAD=$BUILD/shim/libotelctx_preload.so OTELCTX_SPAN_ATTRIBUTES=$attributes OTEL_TRACES_EXPORTER=none \
        OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none \
        "${1:-java}" -cp "$java_bridge:$path" "$ROOT/tests/bench/sdk/Bench.java"
done
