#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Servers give the same answer without the shim and with it, and every process of
# the tree has a context of its own. An exported id changes no process title.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/serving.sh
. "$(dirname "$0")/../serving.sh"
# shellcheck source=tests/e2e/tree.sh
. "$(dirname "$0")/../tree.sh"

# serves I: server I gives the same answer without the shim and with it; the one
# with the shim keeps running.
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
    check "$what: its answer is the same" diff "$TMP/plain" "$TMP/answer"
    check "$what: each process has a context of its own" \
        tree_published "$server" "${processes[$1]}"
}
plain() {
    mv "$TMP/answer" "$TMP/plain"
    [ "$instance_id" = generate ] || titles "${processes[$1]}" >"$TMP/titles"
    down "${signals[$1]}"
}

# command_lines: the command lines of the tree's processes.
command_lines() {
    local pid

    for pid in $(tree "$server"); do
        xargs -0 <"/proc/$pid/cmdline" | sed 's/ *$//'
    done 2>/dev/null || :
}
# titles COUNT: waits until COUNT processes have titles of their own (and a session
# of postgres shows its query), and prints them.
titles() {
    local tries seen

    for ((tries = 0; tries < 1000; tries++)); do
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

# Servers that write process titles over the environment, which "export" changes.
instance_id='export'
for i in "${!names[@]}"; do
    [[ ${names[i]} =~ ^(nginx|redis|postgres)$ ]] || continue
    serves "$i" || continue
    same "$what: its command lines are the same" "$(<"$TMP/titles")" \
        "$(titles "${processes[i]}")"
    down "${signals[i]}"
done

# A daemon leaves its parent and the tree.
cd "$TMP"
LD_PRELOAD=$SHIM redis-server --port 0 --unixsocket "$TMP/socket" --daemonize yes \
    --pidfile "$TMP/redis.pid" --logfile "$TMP/redis.log" >/dev/null
check 'redis-server as a daemon: it answers' \
    timeout 300 sh -c "until redis-cli -s '$TMP/socket' ping; do sleep 0.1; done"
daemon=$(<"$TMP/redis.pid")
check 'redis-server as a daemon: it has a context' published "$daemon"
kill "$daemon"
timeout 300 tail --pid="$daemon" -f /dev/null # Redis saves to this folder

# vsftpd creates the processes of a session with a raw clone: each has a context
# from its first call of libc's prctl on.
mkdir -m 755 ftp
cat >vsftpd.conf <<END
listen=YES
listen_address=127.0.0.1
listen_port=2121
background=NO
anonymous_enable=YES
anon_root=$PWD/ftp
secure_chroot_dir=$PWD/ftp
seccomp_sandbox=NO
END
chmod 755 .
background env LD_PRELOAD="$SHIM" OTELCTX_INSTANCE_ID=generate \
    vsftpd "$PWD/vsftpd.conf"
until exec {session}<>/dev/tcp/127.0.0.1/2121; do sleep 0.1; done 2>/dev/null
printf 'USER anonymous\r\nPASS me\r\n' >&"$session"
check 'vsftpd, children of raw clones: each process has a context of its own' \
    tree_published "$PID" 3
exec {session}>&-
done_testing
