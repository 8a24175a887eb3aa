#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gdb as arbiter: it finds the thread-local variable of a scenario by code that
# nobody here wrote, and the records there are what otelctx-play says. Only under
# glibc, whose libthread_db tells gdb where a thread's variables are.
PLAY=$OTELCTX_PLAY
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

# on_stage SCENARIO: plays it until off_stage, and sets PID.
on_stage() {
    mkfifo "$TMP/hold"
    "$PLAY" "$1" <"$TMP/hold" >"$TMP/said" &
    exec {hold}>"$TMP/hold"
    rm "$TMP/hold"
    until [ -s "$TMP/said" ]; do sleep 0.01; done
    PID=$(jq .pid "$TMP/said")
}
off_stage() {
    exec {hold}>&-
    wait
}

# said: "TID TRACE SPAN FLAGS" of each thread that has a context.
said() {
    jq -r '.expect.threads[] | select(.answer == "context") |
        "\(.tid) \(.trace_id) \(.span_id) \(.trace_flags)"' "$TMP/said" | sort
}
# by_gdb: the same. A record begins with 16, 8, 1 and 1 bytes: ids, valid, flags.
by_gdb() {
    local tid record bytes

    gdb -nx -batch -p "$PID" \
        -ex 'thread apply all -c printf "%#lx\n", *(long *)&otel_thread_ctx_v1' \
        2>/dev/null |
        sed -nE 's/^Thread .*\(LWP ([0-9]+)\).*/\1/; /^([0-9]+|0x[0-9a-f]+)$/p' |
        awk '/^0x/ {print tid, $1} {tid = $1}' |
        while read -r tid record; do
            bytes=$(dd if="/proc/$PID/mem" iflag=skip_bytes,count_bytes \
                status=none skip=$((record)) count=26 |
                od -An -v -tx1 | tr -d ' \n')
            [ "${bytes:48:2}" != 01 ] ||
                echo "$tid ${bytes:0:32} ${bytes:32:16} $((0x${bytes:50:2}))"
        done | sort
}

for scenario in local-exec initial-exec tlsdesc-static tlsdesc-dynamic \
    general-dynamic general-dynamic-late crowd; do
    on_stage "threads/$scenario"
    check "threads/$scenario: there are threads with contexts" [ -n "$(said)" ]
    same "threads/$scenario: gdb finds the same contexts" "$(said)" "$(by_gdb)"
    off_stage
done
done_testing
