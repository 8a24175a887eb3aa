#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Readers of other projects: the packages with which the OpenTelemetry eBPF
# profiler and libdatadog read contexts.
library=$OTELCTX_SHARER_LIBRARY
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/peers.sh
. "$(dirname "$0")/../peers.sh"

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

# profiled: the threads of $PID by the profiler's packages: name, ids and flags,
# attributes.
profiled() {
    "$built/ebpf_profiler" "$PID" threads
}

# ready: waits until the program's context says that its calls are done.
ready() {
    local tries

    for ((tries = 0; tries < 2000; tries++)); do
        ! "$built/ebpf_profiler" "$PID" 2>/dev/null | grep -qx ready=yes ||
            return 0
        sleep 0.02
    done
    return 1
}

if newer_than 1.25 go version; then
    check 'the eBPF profiler'\''s reader builds' ebpf_profiler
    drive "${configured[@]}"
    same 'the eBPF profiler reads the configured attributes' "$seen
threadlocal.attribute_key_map=[http.route http.request.method]" \
        "$("$built/ebpf_profiler" "$PID")"
    same 'the eBPF profiler reads an update' '0 0 service.version=2' \
        "$(call set service.version 2) $(call publish) $(
            "$built/ebpf_profiler" "$PID" | grep service.version)"

    same 'the eBPF profiler reads no context of a detached thread' 'driver -' "$(profiled)"
    call attach "$traceparent" >/dev/null
    call attr 0 /cart >/dev/null
    same 'the eBPF profiler reads the context of a thread' "0
$main http.route=/cart http.request.method=GET" \
        "$(call attr 1 GET)
$(profiled)"
    same 'the eBPF profiler reads a new key and a replaced value' "2 0 0
$main http.route=/ http.request.method=GET user.id=α" \
        "$(call key user.id) $(call attr 2 α) $(call attr 0 /)
$(profiled)"
    echo thread >&"$calls"
    same 'the eBPF profiler reads the contexts of two threads' "0
$main http.route=/ http.request.method=GET user.id=α
driver 11111111111111111111111111111111 2222222222222222 00" \
        "$(call attach 00-11111111111111111111111111111111-2222222222222222-00)
$(profiled)"
    call join >/dev/null
    call drop >/dev/null
    check 'the eBPF profiler reads nothing after a drop' not "$built/ebpf_profiler" "$PID"
    stop

    background python3 "$ROOT/tests/e2e/world/readers/late.py" "$SHIM"
    check 'a program may open the shim late' ready
    same 'the eBPF profiler finds the variable of a shim that is opened late' \
        '-
4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b f0f0f0f0f0f0f0f0 01 http.route=/late
-' "$(profiled | cut -d' ' -f2-)"

    stay "$UPDATER" 1 1 >/dev/null
    published "$PID"
    check 'the eBPF profiler reads 100000 contexts while they are updated' \
        "$built/ebpf_profiler" "$PID" 100000
else
    skip 'the eBPF profiler reads the configured attributes' \
        'machine: its packages need Go 1.25'
fi

if newer_than 1.91 cargo --version; then
    check 'libdatadog'\''s reader builds' libdatadog
    same 'libdatadog reads the configured attributes and keys' "$seen
threadlocal.attribute_key_map has 2 values
--
http.route
http.request.method" "$(env LD_PRELOAD="$SHIM" "${configured[@]}" \
        "$built/libdatadog/debug/libdatadog_reader")"
    check "the shim passes the check of libdatadog's own library" \
        "$built/libdatadog/debug/libdatadog_reader" "$SHIM"
    check 'a library with the older TLS dialect does not pass that check' \
        not "$built/libdatadog/debug/libdatadog_reader" "$library"
else
    skip 'libdatadog reads the configured attributes and keys' \
        'machine: its packages need Rust 1.91'
fi

done_testing
