#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# callgrind counts the instructions of each frequent call, and those of them that
# load and that store: a measure of speed without noise. A commit that changes one
# of these numbers explains why.
declare -A programs=([thread]=$OTELCTX_BENCH_THREAD [process]=$OTELCTX_BENCH_PROCESS)
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

[ "$(uname -m) $(gcc -dumpversion)" = 'x86_64 12' ] ||
    skip_all 'machine: the numbers are those of gcc 12 on x86-64'

# collected STORAGE PROGRAM SUBJECT TIMES: the instructions, loads and stores of the
# whole program.
collected() {
    local storage=$1
    shift

    OTELCTX_THREAD_STORAGE=$storage OTEL_SERVICE_NAME=bench LD_PRELOAD=$SHIM OTEL_RESOURCE_ATTRIBUTES=\
deployment.environment.name=prod,service.version=1 \
        valgrind --tool=callgrind --cache-sim=yes --callgrind-out-file=/dev/null "$@" 2>&1 |
        sed -n 's/.*Collected : //p' | cut -d ' ' -f 1-3
}
# per_round STORAGE PROGRAM SUBJECT: those of one round of the benchmark's loop,
# rounded, because two starts differ by a few instructions.
per_round() {
    local few many i

    read -ra few < <(collected "$1" "${programs[$2]}" "$3" 1000)
    read -ra many < <(collected "$1" "${programs[$2]}" "$3" 3000)
    for i in 0 1 2; do
        many[i]=$(((many[i] - few[i] + 1000) / 2000))
    done
    echo "${many[*]}"
}

while read -r storage program subject instructions loads stores name; do
    same "instructions, loads, stores, $storage: $name" \
        "$instructions $loads $stores" "$(per_round "$storage" "$program" "$subject")"
done < <(grep -v '^#' "$ROOT/tests/golden/instructions")

same 'no jump of the frequent calls is at the end of 32 bytes' '' \
    "$("$ROOT/tests/support/jumps_at_ends" "$SHIM" otelctx_{attach,attach_with,detach,attr,swap,get})"

# The counts for aarch64, with fences, under an emulator.
cross() {
    meson setup --cross-file "$ROOT/tests/support/aarch64.ini" -Dtests=disabled \
        "$TMP/aarch64" "$ROOT" && ninja -C "$TMP/aarch64" \
        shim/libotelctx_preload.so tests/bench/bench_{thread,process}
}
check 'the benchmarks build for aarch64' cross
programs=([thread]=bench_thread [process]=bench_process)

while read -r storage program subject instructions loads stores fences name; do
    same "instructions, loads, stores, fences on aarch64, $storage: $name" \
        "$instructions $loads $stores $fences" \
        "$("$ROOT/tests/support/executed" 211 -L /usr/aarch64-linux-gnu \
            -E "LD_PRELOAD=$TMP/aarch64/shim/libotelctx_preload.so" \
            -E "LD_LIBRARY_PATH=$TMP/aarch64/tests/bench" -E OTEL_SERVICE_NAME=bench \
            -E "OTELCTX_THREAD_STORAGE=$storage" \
            "$TMP/aarch64/tests/bench/${programs[$program]}" "$subject" 211)"
done < <(grep -v '^#' "$ROOT/tests/golden/instructions_aarch64")

done_testing
