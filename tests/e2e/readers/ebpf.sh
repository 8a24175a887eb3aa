#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A profiler in small, in the kernel: a hook of prctl notices each publication, and
# samples of threads that change contexts at full speed are never mixed.
SWITCHER=$OTELCTX_SWITCHER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/peers.sh
. "$(dirname "$0")/../peers.sh"

[ "$(uname -m)" = x86_64 ] || skip_all 'machine: it is not x86-64'
newer_than 1.25 go version || skip_all 'machine: cilium/ebpf needs Go 1.25'

kernel=$built/kernel
build() {
    local name

    mkdir -p "$kernel"
    for name in notice sample; do
        clang -target bpf -O2 -g -Wall -Wextra -Werror -I"/usr/include/$(uname -m)-linux-gnu" \
            -c "$ROOT/tests/e2e/readers/ebpf/kernel/$name.c" -o "$kernel/$name.o"
    done
    in_go "$ROOT/tests/e2e/readers/ebpf" vet .
    in_go "$ROOT/tests/e2e/readers/ebpf" build -o "$built/ebpf" .
}
ebpf() {
    "$built/ebpf" "$kernel" "$@"
}
# apart COMMAND...: with pids of its own, so that the many processes of a busy machine
# are not noticed, and with the kernel's list of tracepoints.
apart() {
    unshare -m --pid --fork --kill-child --mount-proc sh -c '
        mount -t tracefs none /sys/kernel/tracing && exec "$@"' sh "$@"
}

check 'the profiler builds' build
reason=$(ebpf machine) || :
[ -n "$reason" ] || apart true || reason='machine: tracefs cannot be mounted in a namespace'
if [ -n "$reason" ]; then
    skip 'a hook of prctl notices 1000 processes' "$reason"
    done_testing
fi
contains 'without privileges it says why it cannot run here' 'machine: no BPF programs on tracepoints: ' \
    "$(setpriv --bounding-set=-all "$built/ebpf" "$kernel" machine || :)"

# noticed COMMAND...: with COMMAND around 1000 processes, one after the other.
noticed() {
    set -o pipefail
    "$@" "$built/ebpf" "$kernel" notice 1000 env LD_PRELOAD="$SHIM" true | tee "$TMP/row"
}
check 'a hook of prctl notices 1000 processes, each with its whole context' noticed apart
show "$(tail -n 1 "$TMP/row")"
check 'and 1000 that get no memfd' noticed apart prlimit --fsize=0
show "$(tail -n 1 "$TMP/row")"

# switching [torn]: the threads of $PID change contexts from here on.
switching() {
    stay "$SWITCHER" "$@" >"$TMP/begun"
    until [ -s "$TMP/begun" ]; do
        kill -0 "$PID"
        sleep 0.02
    done
}
sampled() {
    local offset

    switching "$@"
    offset=$("$READ" --json --threads "$PID" | jq -er .thread_context.symbol.offset)
    ebpf sample "$PID" "$offset" 1000000 | tee "$TMP/row"
}
check '1000000 samples of threads that attach, detach and swap: none is mixed' sampled
show "$(head -n 1 "$TMP/row")"
torn() {
    sampled torn || :
    grep '^mixed: ' "$TMP/row"
}
check 'a writer that leaves valid set while it writes is found out' torn
done_testing
