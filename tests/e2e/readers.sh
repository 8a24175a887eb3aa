#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Readers that nobody here wrote: the packages that the OpenTelemetry eBPF
# profiler and libdatadog read process contexts with, from their registries.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

built=$BUILD/readers
mkdir -p "$built"

# newer_than VERSION COMMAND...: the first version number that it prints is.
newer_than() {
    local wanted=$1 found
    shift

    found=$("$@" 2>/dev/null | grep -oEm 1 '[0-9]+\.[0-9]+') || return 1
    printf '%s\n' "$wanted" "$found" | sort -CV
}

configured=(OTEL_SERVICE_NAME=checkout
    "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=prod,empty=,greek=%CE%B1"
    OTELCTX_EXTRA_ATTRIBUTES=build=7f)
seen='deployment.environment.name=prod
empty=
greek=α
service.name=checkout
--
build=7f'

ebpf_profiler() {
    (cd "$ROOT/tests/e2e/readers/ebpf_profiler" &&
        go build -buildvcs=false -o "$built/ebpf_profiler" .)
}
if newer_than 1.25 go version; then
    check 'the eBPF profiler'\''s reader builds' ebpf_profiler
    drive "${configured[@]}"
    same 'the eBPF profiler reads what was configured' "$seen" \
        "$("$built/ebpf_profiler" "$PID")"
    same 'and an update' '0 0 service.version=2' \
        "$(call set service.version 2) $(call publish) $(
            "$built/ebpf_profiler" "$PID" | grep version)"
    call drop >/dev/null
    check 'and nothing after a drop' not "$built/ebpf_profiler" "$PID"
    stop

    stay "$UPDATER" 1 1 >/dev/null
    published "$PID"
    check 'and 100000 contexts of a program that updates at full speed' \
        "$built/ebpf_profiler" "$PID" 100000
else
    skip 'the eBPF profiler reads what was configured' \
        'machine: its packages need Go 1.25'
fi

libdatadog() {
    cargo build --locked --quiet --target-dir "$built/libdatadog" \
        --manifest-path "$ROOT/tests/e2e/readers/libdatadog/Cargo.toml"
}
if newer_than 1.91 cargo --version; then
    check 'libdatadog'\''s reader builds' libdatadog
    same 'libdatadog reads what was configured' "$seen" \
        "$(env LD_PRELOAD="$SHIM" "${configured[@]}" \
            "$built/libdatadog/debug/libdatadog_reader")"
else
    skip 'libdatadog reads what was configured' \
        'machine: its packages need Rust 1.91'
fi

done_testing
