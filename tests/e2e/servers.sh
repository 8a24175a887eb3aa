#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Servers, without the shim and with it: the same answer; and every process of
# the tree has a context of its own.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/e2e/serving.sh
. "$(dirname "$0")/serving.sh"
# shellcheck source=tests/e2e/tree.sh
. "$(dirname "$0")/tree.sh"

for i in "${!names[@]}"; do
    what=${sentences[i]}
    for preload in '' "$SHIM"; do
        up "${names[i]}" || {
            tap_not_ok "$what starts${preload:+ under the shim}" \
                "$(cat "$TMP/asked" "$TMP/log")"
            down KILL
            continue 2
        }
        [ -n "$preload" ] || { mv "$TMP/answer" "$TMP/plain" && down "${signals[i]}"; }
    done
    check "$what: it answers the same" diff "$TMP/plain" "$TMP/answer"
    check "$what: each process has a context of its own" \
        tree_published "$server" "${processes[i]}"
    down "${signals[i]}"
done
# A daemon leaves its parent, and with it the tree.
cd "$TMP"
LD_PRELOAD=$SHIM redis-server --port 0 --unixsocket "$TMP/socket" --daemonize yes \
    --pidfile "$TMP/redis.pid" --logfile "$TMP/redis.log" >/dev/null
check 'redis-server as a daemon: it answers' \
    timeout 30 sh -c "until redis-cli -s '$TMP/socket' ping; do sleep 0.1; done"
daemon=$(<"$TMP/redis.pid")
check 'redis-server as a daemon: it has a context' published "$daemon"
kill "$daemon"
done_testing
