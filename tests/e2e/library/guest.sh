#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shim on aarch64 under a real kernel (tests/support/guest), with glibc and
# musl: otelctx-read and gdb read the driver. User emulation (executable.sh) has
# no ptrace. The kernel has Yama, so the doctor is asked about it, too.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

SUPPORT=$ROOT/tests/support
CELLS=$TMP/cells
GUEST=$BUILD/guest/arm64
FIRST=00-0123456789abcdef0123456789abcdef-0123456789abcdef-01
SECOND=00-fedcba9876543210fedcba9876543210-fedcba9876543210-03

grep -q '^ID=debian$' /etc/os-release ||
    skip_all 'machine: the guest is made of packages of its Debian'

guest() {
    OTELCTX_BUILD=$BUILD "$SUPPORT/guest" "$@"
}

# cell NAME [NAME=VALUE]...: a folder in which the driver makes the calls that
# stdin lists.
cell() {
    mkdir -p "$CELLS/$LIBC-$1"
    cp "$TMP/driver" "$GUEST/release/usr/lib/libotelctx_preload.so" \
        "$CELLS/$LIBC-$1"
    echo "env LD_PRELOAD=./libotelctx_preload.so ${*:2} ./driver" \
        >"$CELLS/$LIBC-$1/start"
    { cat && echo ready; } >"$CELLS/$LIBC-$1/calls"
}

# cells LIBC COMPILER
cells() {
    LIBC=$1
    "$2" -I"$ROOT" -pthread -o "$TMP/driver" "$ROOT/tests/e2e/hosts/driver.c"
    cell attached <<END
key http.route
key user.id
attach $FIRST
attr 0 /cart
thread
attach $SECOND
attr 1 joe
attr 0 /pay
END
    cell detached <<END
attach $FIRST
detach
thread
END
    cell all TRACEPARENT=$FIRST OTELCTX_TRACEPARENT=all <<<thread
    cell main TRACEPARENT=$FIRST OTELCTX_TRACEPARENT=main <<<thread
}

# symbol FOLDER: the file in which otelctx-read found the variable, and the access.
symbol() {
    jq -r '.thread_context | [.status, .schema_version, .symbol.access,
        (.symbol.object | sub(".*/"; ""))] | join(" ")' "$1/reader"
}

# threads FOLDER: what otelctx-read prints for each thread.
threads() {
    jq -r '.pid as $pid | .threads[] | [
        if .tid == $pid then "main" else "second" end, .status,
        (select(.status == "attached") | .trace_id, .span_id, .trace_flags),
        (.attributes // [] | .[] | "\(.key)=\(.value.stringValue)")] |
        join(" ")' "$1/reader"
}

# slots FOLDER: each thread's tid and record, by gdb and by otelctx-read.
slots_by_gdb() {
    awk 'match($0, /^Thread .*\(LWP [0-9]+/) {
            tid = substr($0, RSTART, RLENGTH); sub(/.* /, "", tid)}
        NF == 1 && /^0/ {sub(/^0$/, "0x0"); print tid, $0}' "$1/debugger" |
        sort
}
slots() {
    jq -r '.threads[] | "\(.tid) \(.record // "0x0")"' "$1/reader" | sort
}

# why USER SCOPE: the exit status of otelctx-read --why, and the check that failed.
why() {
    echo "$(<"$CELLS/scopes/$1-$2.status") $(jq -r 'if .passed then "passed" else
        .checks[] | select(.state == "failed") | "\(.check): \(.advice)" end' \
        "$CELLS/scopes/$1-$2")"
}

# judge LIBC
judge() {
    local at=$CELLS/$1

    same "$1: every call succeeds" "key 0
key 1
attach 0
attr 0
attach 0
attr 0
attr 0" "$(<"$at-attached/program")"
    same "$1: nothing else is printed" '' "$(cat "$at"-*/errors)"
    same "$1: the variable is the shim's, in static TLS" \
        'ok tlsdesc_v1_dev tlsdesc-static libotelctx_preload.so' \
        "$(symbol "$at-attached")"
    same "$1: each thread has its own trace, span, flags and attributes" \
        "main attached 0123456789abcdef0123456789abcdef 0123456789abcdef 1 http.route=/cart
second attached fedcba9876543210fedcba9876543210 fedcba9876543210 3 user.id=joe http.route=/pay" \
        "$(threads "$at-attached")"
    same "$1: a reader does not see a detached context" \
        $'main detached\nsecond detached' "$(threads "$at-detached")"
    same "$1: OTELCTX_TRACEPARENT=all gives every thread the context" \
        'main attached 0123456789abcdef0123456789abcdef 0123456789abcdef 1
second attached 0123456789abcdef0123456789abcdef 0123456789abcdef 1' \
        "$(threads "$at-all")"
    same "$1: OTELCTX_TRACEPARENT=main gives the main thread the context" \
        'main attached 0123456789abcdef0123456789abcdef 0123456789abcdef 1
second detached' "$(threads "$at-main")"
}

check 'Debian packages make an aarch64 guest' \
    guest --prepare arm64 bookworm
cells glibc aarch64-linux-gnu-gcc
cells musl "$GUEST/musl-gcc"
cp "$SUPPORT/observe" "$SUPPORT/yama" "$GUEST/release/usr/bin/otelctx-read" "$CELLS"
check 'the drivers run in the guest and are read' \
    guest arm64 bookworm "$CELLS" './observe /work/otelctx-read &&
        ./yama otelctx-read glibc-all/driver glibc-all/libotelctx_preload.so'
judge glibc
same 'glibc: gdb finds the same records' "$(slots "$CELLS/glibc-attached")" \
    "$(slots_by_gdb "$CELLS/glibc-attached")"
judge musl

own='run otelctx-read as root, or'
never='kernel.yama.ptrace_scope is 3, which forbids this even to root until the next boot'
same 'Yama, scope 0: the user of a process may read it' \
    '0 passed' "$(why nobody 0)"
same 'Yama, scope 1: only its ancestors may' \
    "4 process: $own set kernel.yama.ptrace_scope, which is 1, to 0" \
    "$(why nobody 1)"
same 'Yama, scope 2: only who has CAP_SYS_PTRACE may' \
    "4 process: $own with CAP_SYS_PTRACE: kernel.yama.ptrace_scope is 2" \
    "$(why nobody 2)"
same 'Yama, scope 3: nobody may' "4 process: $never" "$(why nobody 3)"
for scope in 0 1 2; do
    same "Yama, scope $scope: root may" '0 passed' "$(why root $scope)"
done
same 'Yama, scope 3: root may not' "4 process: $never" "$(why root 3)"

done_testing
