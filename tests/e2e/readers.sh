#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Readers that nobody here wrote: the packages with which the OpenTelemetry eBPF
# profiler and libdatadog read contexts.
#
library=$OTELCTX_SHARER_LIBRARY
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/e2e/peers.sh
. "$(dirname "$0")/peers.sh"

traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
main='driver 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 01'
configured=(OTEL_SERVICE_NAME=checkout
    "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=prod,empty=,greek=%CE%B1"
    OTELCTX_EXTRA_ATTRIBUTES=build=7f
    'OTELCTX_ATTRIBUTE_KEYS=http.route,http.request.method')
seen='service.name=checkout
deployment.environment.name=prod
empty=
greek=α
--
build=7f
threadlocal.schema_version=tlsdesc_v1_dev'

ebpf_profiler() {
    (cd "$ROOT/tests/e2e/readers/ebpf_profiler" &&
        go build -buildvcs=false -o "$built/ebpf_profiler" .)
}

# profiled: the threads of $PID as the profiler's packages see them: name, ids
# and flags, attributes.
profiled() {
    "$built/ebpf_profiler" "$PID" threads
}

# ready: the program has said that it did what it is to do.
ready() {
    local tries

    for ((tries = 0; tries < 200; tries++)); do
        ! "$built/ebpf_profiler" "$PID" 2>/dev/null | grep -qx ready=yes ||
            return 0
        sleep 0.02
    done
    return 1
}

if newer_than 1.25 go version; then
    check 'the eBPF profiler'\''s reader builds' ebpf_profiler
    drive "${configured[@]}"
    same 'the eBPF profiler reads what was configured' "$seen
threadlocal.attribute_key_map=[http.route http.request.method]" \
        "$("$built/ebpf_profiler" "$PID")"
    same 'and an update' '0 0 service.version=2' \
        "$(call set service.version 2) $(call publish) $(
            "$built/ebpf_profiler" "$PID" | grep service.version)"

    same 'a thread without a context has none for it' 'driver -' "$(profiled)"
    call attach "$traceparent" >/dev/null
    call attr 0 /cart >/dev/null
    same 'the context of a thread' "0
$main http.route=/cart http.request.method=GET" \
        "$(call attr 1 GET)
$(profiled)"
    same 'and one with a key that is new and a value that was replaced' "2 0 0
$main http.route=/ http.request.method=GET user.id=α" \
        "$(call key user.id) $(call attr 2 α) $(call attr 0 /)
$(profiled)"
    echo thread >&"$calls"
    same 'the contexts of two threads' "0
$main http.route=/ http.request.method=GET user.id=α
driver 11111111111111111111111111111111 2222222222222222 00" \
        "$(call attach 00-11111111111111111111111111111111-2222222222222222-00)
$(profiled)"
    call join >/dev/null
    call drop >/dev/null
    check 'and nothing after a drop' not "$built/ebpf_profiler" "$PID"
    stop

    background python3 "$ROOT/tests/e2e/readers/late.py" "$SHIM"
    check 'a program may open the shim late' ready
    same 'then its threads have the variable where the dynamic linker put it' \
        '-
4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b f0f0f0f0f0f0f0f0 01 http.route=/late
-' "$(profiled | cut -d' ' -f2-)"

    stay "$UPDATER" 1 1 >/dev/null
    published "$PID"
    check 'and 100000 contexts of a program that updates at full speed' \
        "$built/ebpf_profiler" "$PID" 100000
else
    skip 'the eBPF profiler reads what was configured' \
        'machine: its packages need Go 1.25'
fi

if newer_than 1.91 cargo --version; then
    check 'libdatadog'\''s reader builds' libdatadog
    same 'libdatadog reads what was configured, and the keys of threads' "$seen
threadlocal.attribute_key_map has 2 values
--
http.route
http.request.method" "$(env LD_PRELOAD="$SHIM" "${configured[@]}" \
        "$built/libdatadog/debug/libdatadog_reader")"
    check 'what libdatadog checks in its own library holds for the shim' \
        "$built/libdatadog/debug/libdatadog_reader" "$SHIM"
    check 'and would not in a library with the older TLS dialect' \
        not "$built/libdatadog/debug/libdatadog_reader" "$library"
else
    skip 'libdatadog reads what was configured' \
        'machine: its packages need Rust 1.91'
fi

done_testing
