# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the tests of servers, which are those of servers/table.sh: starts
# them with the shim or without, and ends them.

# shellcheck source=tests/e2e/fixed.sh
. "$(dirname "${BASH_SOURCE[0]}")/fixed.sh"

chmod 755 "$TMP"
# Others may listen on the same ports, but hardly on an address by our number.
ADDRESS=127.$((64 + ($$ >> 16 & 63))).$(($$ >> 8 & 255)).$(($$ & 255))
names=() processes=() sentences=() signals=()

# See servers/table.sh.
server() {
    names+=("$1")
    processes+=("$2")
    sentences+=("$3")
    signals+=("${4-TERM}")
}

# serve COMMAND...: with the shim or without, in the place of this shell; apart,
# because some signal their whole group.
instance_id=generate
serve() {
    exec setsid env ${preload:+LD_PRELOAD="$preload"} \
        OTELCTX_INSTANCE_ID="$instance_id" "$@"
}

# up NAME: starts it as $server; what it answers is in $TMP/answer.
up() {
    local tries

    rm -rf "$TMP/server"
    mkdir "$TMP/server"
    cd "$TMP/server" || return
    printf '%s\n' heron wren avocet >words
    background "$1_start" >"$TMP/log" 2>&1
    server=$PID
    for ((tries = 0; tries < 300; tries++)); do
        ! "$1_ask" >"$TMP/answer" 2>"$TMP/asked" || return 0
        [ -e "/proc/$server/exe" ] || break
        sleep 0.1
    done
    return 1
}

# down SIGNAL: ends it, what it left, and who asked it.
down() {
    local tries

    kill -s "$1" "$server" || :
    for ((tries = 0; tries < 100; tries++)); do
        [ -e "/proc/$server/exe" ] || break
        sleep 0.05
    done
    kill -KILL -- "-$server" 2>/dev/null || :
    # Who is killed listens until it has ended; a zombie has.
    for ((tries = 0; tries < 100; tries++)); do
        pgrep -g "$server" -r D,R,S >/dev/null || break
        sleep 0.05
    done
    tap_stop 2>/dev/null
}

# shellcheck source=tests/e2e/servers/table.sh
. "$ROOT/tests/e2e/servers/table.sh"
