#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Servers, without the shim and with it: the same answer; and every process of
# the tree has a context of its own. An id that is exported changes no title.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/e2e/serving.sh
. "$(dirname "$0")/serving.sh"
# shellcheck source=tests/e2e/tree.sh
. "$(dirname "$0")/tree.sh"

# serves I: it answers the same without the shim and with it, which leaves it up.
serves() {
    what=${sentences[$1]}
    [ "$instance_id" = generate ] || what+=", OTELCTX_INSTANCE_ID=$instance_id"
    for preload in '' "$SHIM"; do
        up "${names[$1]}" || {
            tap_not_ok "$what starts${preload:+ under the shim}" \
                "$(cat "$TMP/asked" "$TMP/log")"
            down KILL
            return 1
        }
        [ -n "$preload" ] || plain "$1"
    done
    check "$what: it answers the same" diff "$TMP/plain" "$TMP/answer"
    check "$what: each process has a context of its own" \
        tree_published "$server" "${processes[$1]}"
}
plain() {
    mv "$TMP/answer" "$TMP/plain"
    [ "$instance_id" = generate ] || titles "${processes[$1]}" >"$TMP/titles"
    down "${signals[$1]}"
}

# command_lines: of the tree, one a line.
command_lines() {
    local pid

    for pid in $(tree "$server"); do
        xargs -0 <"/proc/$pid/cmdline" | sed 's/ *$//'
    done 2>/dev/null || :
}
# titles COUNT: those of so many processes, once each child has its own, and a
# session of postgres its query.
titles() {
    local tries seen

    for ((tries = 0; tries < 100; tries++)); do
        seen=$(command_lines)
        [ "$(wc -l <<<"$seen")" != "$1" ] ||
            tail -n +2 <<<"$seen" | grep -qFx "$(head -n 1 <<<"$seen")" ||
            grep -qE '^postgres:.*(authentication|idle|startup)$' <<<"$seen" ||
            break
        sleep 0.1
    done
    sort <<<"$seen"
}

for i in "${!names[@]}"; do
    ! serves "$i" || down "${signals[i]}"
done

# Those that write titles over the environment, which "export" changes.
instance_id='export'
for i in "${!names[@]}"; do
    [[ ${names[i]} =~ ^(nginx|redis|postgres)$ ]] || continue
    serves "$i" || continue
    same "$what: its command lines are the same" "$(<"$TMP/titles")" \
        "$(titles "${processes[i]}")"
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
timeout 20 tail --pid="$daemon" -f /dev/null # it saves to our folder
done_testing
