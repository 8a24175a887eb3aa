#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Another writer in the process (hosts/sharer.c) shares `otel_thread_ctx_v1` with
# the shim, whichever object defines the variable. The shim overwrites no record
# of the other writer. writers.sh has writers of other projects.
#
exports=$OTELCTX_SHARER_EXPORTS links=$OTELCTX_SHARER_LINKS
finds=$OTELCTX_SHARER_FINDS library=$OTELCTX_SHARER_LIBRARY
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/sharing.sh
. "$(dirname "$0")/../sharing.sh"

others='attached 0c00000000000000 http.route=other'
ours='attached 2200000000000000 http.route=ours'
nothing=detached
refused="attach $EBUSY
attr $EBUSY
unset $EBUSY
detach $EBUSY
get $EBUSY
swap $EBUSY
swapout $EBUSY
pin 0
kept 1"

# shares WHOSE PROGRAM [NAME=VALUE]...
shares() {
    local whose=$1
    DRIVER=$2
    shift 2
    drive OTELCTX_ATTRIBUTE_KEYS=http.route "$@"

    same "$whose: every call leaves another writer's record alone" \
        "$(echo put 0 && echo "$refused")" \
        "$(calls put attach attr unset detach get swap swapout pin kept)"
    same "$whose: a reader sees that record" "$others
$nothing" "$(attached)"
    same "$whose: without such a record the shim attaches its own" \
        "$(printf '%s 0\n' clear attach attr get)" \
        "$(calls clear attach attr get)"
    same "$whose: a reader sees the shim's record" "$ours
$nothing" "$(attached)"

    same "$whose: a record that replaced the shim's is left alone" \
        "$(echo put 0 && echo "$refused")" \
        "$(calls put attach attr unset detach get swap swapout pin kept)"
    same "$whose: a record that replaced the program's is left alone" \
        "$(printf '%s 0\n' clear swap put && echo "$refused")" \
        "$(calls clear swap put attach attr unset detach get swap swapout pin \
            kept)"
    same "$whose: a record that replaced a pinned one is left alone" \
        "$(printf '%s\n' 'clear 0' 'pin 1' 'put 0' && echo "$refused")" \
        "$(calls clear pin put attach attr unset detach get swap swapout pin \
            kept)"
    same "$whose: a record at the address of a detached one is left alone" \
        "$(printf '%s 0\n' clear swap detach reuse && echo "$refused")" \
        "$(calls clear swap detach reuse attach attr unset detach get swap \
            swapout pin kept)"
    same "$whose: a record at the address of one swapped out is left alone" \
        "$(printf '%s 0\n' clear swap swapout reuse && echo "$refused")" \
        "$(calls clear swap swapout reuse attach attr unset detach get swap \
            swapout pin kept)"
    same "$whose: after the other writer every call works again" \
        "$(printf '%s 0\n' clear attach attr detach)
$nothing
$nothing" "$(calls clear attach attr detach && attached)"
    stop
}

shares 'an executable exports it' "$exports"
shares 'a linked library defines it' "$links"
shares 'a library of a plugin defines it' "$finds" SHARER_LIBRARY="$library"
shares 'a program finds the one of the shim' "$finds"

traceparent=TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
DRIVER=$links
for threads in main all; do
    drive SHARER_EARLY=1 OTELCTX_TRACEPARENT=$threads $traceparent
    contains "TRACEPARENT for $threads leaves an earlier record alone" \
        'attached ea00000000000000' "$(attached)"
    stop
done

# The executable's TLS image is not the shim's to change.
DRIVER=$exports
drive OTELCTX_TRACEPARENT=all $traceparent
same 'in the variable of an executable only the main thread has TRACEPARENT' \
    "$nothing
attached 00f067aa0ba902b7" "$(attached)"
stop

done_testing
