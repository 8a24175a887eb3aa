#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prefork servers under load: they answer thousands of requests and replace their
# workers meanwhile, while a reader reads every process of the tree.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/serving.sh
. "$(dirname "$0")/../serving.sh"

prefork=$ROOT/tests/e2e/fork/prefork
preload=$SHIM

# watch PID: runs watch.py, which `watched COUNT` ends: it succeeds if watch.py
# found nothing wrong and saw at least so many processes. (There are more; on a
# slow machine it misses most of them.)
watch() {
    mkfifo "$TMP/stop"
    background watching "$1"
    watcher=$PID
    exec {stop}>"$TMP/stop"
    rm "$TMP/stop"
}
watching() {
    exec /usr/bin/python3 "$prefork/watch.py" "$READ" "$1" \
        <"$TMP/stop" >"$TMP/watched" 2>&1
}
watched() {
    cat "$TMP/watched"
    [ "$seen" = 0 ] && [ "$(sed -n 's/ processes$//p' "$TMP/watched")" -ge "$1" ]
}
unwatch() {
    exec {stop}>&-
    seen=0
    wait "$watcher" || seen=$?
}

# Without keep-alive: a worker that ends closes its connections, and the client
# of a kept one has to try again, with the shim or without.
reload_and_ask() {
    local round

    for ((round = 0; round < 40; round++)); do
        kill -HUP "$server"
        ab -q -n 250 -c 8 "http://$ADDRESS:8080/words"
    done
}

up nginx
watch "$server"
reload_and_ask >"$TMP/ab" 2>&1 || echo "ab: $?" >>"$TMP/ab"
unwatch
same 'nginx answers each of 10000 requests while its workers are replaced' \
    '10000 complete, 0 failed, 0 wrong, 0 errors' "$(awk '
        /^Complete requests:/ {complete += $3}
        /^Failed requests:/ {failed += $3}
        /^Non-2xx responses:/ {wrong += $3}
        /^(apr_|ab:)/ {errors++}
        END {printf "%d complete, %d failed, %d wrong, %d errors\n",
            complete, failed, wrong, errors}' "$TMP/ab")"
check 'each process of nginx has one context, with an id of its own' watched 10
down TERM

cd "$TMP"
background serve /usr/bin/python3 "$prefork/pool.py" 3000 >answers 2>&1
server=$PID
watch "$server"
wait "$server" || :
unwatch
same 'a pool of Python answers each of 3000 requests while its workers are replaced' \
    '3000 answers, 300 processes or more' "$(<answers)"
check 'each process of the pool has one context, with an id of its own' watched 10
done_testing
