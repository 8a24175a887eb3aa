# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the tests of servers, which are those of servers/table.sh: starts
# them with the shim or without, and ends them.

# shellcheck source=tests/e2e/fixed.sh
. "$(dirname "${BASH_SOURCE[0]}")/fixed.sh"

chmod 755 "$TMP"
# An address made of our pid: other programs may use the same ports on
# 127.0.0.1.
ADDRESS=127.$((64 + ($$ >> 16 & 63))).$(($$ >> 8 & 255)).$(($$ & 255))
names=() processes=() sentences=() signals=()

# See servers/table.sh.
server() {
    names+=("$1")
    processes+=("$2")
    sentences+=("$3")
    signals+=("${4-TERM}")
}

# serve COMMAND...: replaces this shell by the server, with the shim or without;
# in a session of its own, because some servers signal their whole process
# group.
instance_id=generate
serve() {
    exec setsid env ${preload:+LD_PRELOAD="$preload"} \
        OTELCTX_INSTANCE_ID="$instance_id" "$@"
}

# up NAME: starts the server, whose pid is in $server, and leaves its answer in
# $TMP/answer.
up() {
    local tries

    rm -rf "$TMP/server"
    mkdir "$TMP/server"
    cd "$TMP/server" || return
    printf '%s\n' heron wren avocet >words
    background "$1_start" >"$TMP/log" 2>&1
    server=$PID
    for ((tries = 0; tries < 1200; tries++)); do
        ! "$1_ask" >"$TMP/answer" 2>"$TMP/asked" || return 0
        [ -e "/proc/$server/exe" ] || break
        sleep 0.1
    done
    return 1
}

# down SIGNAL: ends the server, processes that it left, and its clients.
down() {
    local tries

    kill -s "$1" "$server" || :
    for ((tries = 0; tries < 100; tries++)); do
        [ -e "/proc/$server/exe" ] || break
        sleep 0.05
    done
    kill -KILL -- "-$server" 2>/dev/null || :
    # A killed process keeps its port until it has ended; a zombie has ended.
    for ((tries = 0; tries < 400; tries++)); do
        pgrep -g "$server" -r D,R,S >/dev/null || break
        sleep 0.05
    done
    tap_stop 2>/dev/null
}

# shellcheck source=tests/e2e/world/servers/table.sh
. "$ROOT/tests/e2e/world/servers/table.sh"
