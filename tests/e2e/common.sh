# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the test scripts of this folder: programs under the shim, and what
# otelctx-read sees of them. meson.build sets the paths in the environment.

# shellcheck disable=SC2034 # what is set here is for those who source it
# shellcheck source=tests/support/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
SHIM=$OTELCTX_SHIM
READ=$OTELCTX_READ
REQUESTS=$OTELCTX_REQUESTS
RUN=$OTELCTX_RUN
DRIVER=$OTELCTX_DRIVER
UPDATER=$OTELCTX_UPDATER
EARLY=$OTELCTX_EARLY
FILTERED=${OTELCTX_FILTERED-} # only where libseccomp is
PROTO_DIR=$OTELCTX_PROTO_DIR
TABLE=$OTELCTX_OPTION_TABLE
BUILD=$OTELCTX_BUILD
unset "${!OTEL@}"

# stay [NAME=VALUE]... COMMAND...: runs it under the shim until the script ends;
# its pid is in $PID.
stay() {
    background env LD_PRELOAD="$SHIM" "$@"
}

# status PID: the "status" that otelctx-read prints: "ok" or the name of a
# failure.
status() {
    "$READ" --json "$1" 2>/dev/null | jq -r .status
}

# resource PID, extra PID: the attributes as key=value lines, in the order of
# the payload; extra leaves out the "threadlocal." keys.
resource() {
    "$READ" --json "$1" | jq -r '.contexts[0].resource.attributes[]
        | "\(.key)=\(.value.stringValue)"'
}
extra() {
    "$READ" --json "$1" | jq -r '.contexts[0].extra_attributes[]
        | select(.key | startswith("threadlocal.") | not)
        | "\(.key)=\(.value.stringValue)"'
}

# published PID: waits until there is a context, at most twenty seconds.
published() {
    local tries

    for ((tries = 0; tries < 1000; tries++)); do
        [ "$(status "$1")" != ok ] || return 0
        sleep 0.02
    done
    echo "no context in process $1: $(status "$1")"
    return 1
}

# usage: the number of descriptors and threads of $PID, and the KiB that it has
# mapped, without heap and stack. KiB rather than lines of maps, because the
# kernel merges neighbouring mappings.
usage() {
    find "/proc/$PID/fd" "/proc/$PID/task" -mindepth 1 -maxdepth 1 | wc -l
    awk '/^[0-9a-f]+-/ {name = $6} /^Size:/ && name !~ /^\[/ {kib += $2}
        END {print kib}' "/proc/$PID/smaps"
}

# stderr_of [NAME=VALUE]... COMMAND...: runs it under the shim and prints its
# stderr, with "PID" for the pid.
stderr_of() {
    env LD_PRELOAD="$SHIM" "$@" 2>&1 >/dev/null | sed 's/^otelctx\[[0-9]*\]/otelctx[PID]/'
}

# unchanged SENTENCE COMMAND...: stdout, stderr and exit status are the same with
# the shim as without, byte for byte. What is in `around` runs the command.
unchanged() {
    local sentence=$1
    shift

    both "$@"
    check "$sentence" all_same
}
both() {
    local run status preload

    for run in plain preloaded; do
        status=0
        preload=
        [ $run = plain ] || preload=$SHIM
        "${around[@]}" env LD_PRELOAD="$preload" "$@" >"$TMP/$run.out" \
            2>"$TMP/$run.err" </dev/null || status=$?
        echo $status >"$TMP/$run.status"
    done
}
all_same() {
    local what

    for what in out err status; do
        diff "$TMP/plain.$what" "$TMP/preloaded.$what"
    done
}
around=()

# can_mount: whether we may make a mount namespace; in a container we may not.
can_mount() {
    unshare -m true 2>/dev/null
}

# protoc_says: the context of $PID as protoc decodes it from the process's memory,
# without otelctx-read's decoder.
protoc_says() {
    local address size

    read -r address size <<<"$("$READ" --json "$PID" |
        jq -r '.contexts[0].header | "\(.payload) \(.payload_size)"')"
    dd if="/proc/$PID/mem" iflag=skip_bytes,count_bytes skip=$((address)) \
        count="$size" status=none |
        protoc -I"$PROTO_DIR" --decode \
            opentelemetry.proto.processcontext.v1development.ProcessContext \
            process_context.proto
}

# naming: prints "yes" if the kernel has CONFIG_ANON_VMA_NAME, else "no".
naming() {
    python3 - <<'END'
import ctypes, mmap
area = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at = ctypes.addressof(ctypes.c_char.from_buffer(area))
named = ctypes.CDLL(None).prctl(0x53564D41, 0, ctypes.c_ulong(at),
                                ctypes.c_ulong(4096), b"x")
print("yes" if named == 0 else "no")
END
}

# drive [NAME=VALUE]...: starts hosts/driver.c under the shim, as $PID; when it
# returns, the shim has done what it does at start. `call` has it make one call
# and prints what that returned; `stop` ends it.
drive() {
    mkfifo "$TMP/calls" "$TMP/results"
    background driven "$@"
    exec {calls}>"$TMP/calls" {results}<"$TMP/results"
    rm "$TMP/calls" "$TMP/results"
    ABI=$(call abi)
}
driven() {
    exec env LD_PRELOAD="$SHIM" "$@" "$DRIVER" \
        <"$TMP/calls" >"$TMP/results" 2>"$TMP/stderr"
}
call() {
    local result

    echo "$*" >&"$calls"
    read -r result <&"$results"
    echo "${result#* }"
}
stop() {
    exec {calls}>&- {results}<&-
    wait "$PID"
}

# memory_left BYTES: limits what the driven process may still map.
memory_left() {
    local kib

    kib=$(awk '/^VmSize:/ {print $2}' "/proc/$PID/status")
    prlimit --pid "$PID" --as=$((kib * 1024 + $1)):
}

# within COMMAND...: as drive, but COMMAND starts the driver, in a container for
# instance.
within() {
    printf '#!/bin/sh\nexec %s\n' "$*" >"$TMP/start"
    chmod +x "$TMP/start"
    DRIVER=$TMP/start drive LD_PRELOAD=
}
