#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The age of a context when the publisher, the reader or both are in another time
# namespace.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

DAY=86400

unshare -T --boottime $DAY true 2>/dev/null ||
    skip_all "machine: Linux $(uname -r) gives us no time namespace"

# stay_ahead SECONDS: starts a publisher whose clock is ahead; its pid is $PID.
stay_ahead() {
    stay unshare -T --boottime "$1" sleep infinity
    until [ "$(cat "/proc/$PID/comm")" = sleep ]; do sleep 0.01; done
    published "$PID"
}

# age [COMMAND...]: the age of the context in $PID by JSON, in whole hours.
age() {
    "$@" "$READ" --json "$PID" |
        jq '.contexts[0].age_ns | tonumber / 3600e9 | round'
}

# said [COMMAND...]: the age in the text.
said() {
    "$@" "$READ" "$PID" | grep -Eo 'published  [0-9]+ (ms|s|min) '
}

recent='published  [0-9]+ (ms|s|min) '

stay_ahead $DAY
same 'a publisher in another time namespace published just now' 0 "$(age)"
check 'the text has the same age' grep -Eq "$recent" <<<"$(said)"
same 'a reader in a third time namespace sees the same age' 0 \
    "$(age unshare -T --boottime $((2 * DAY)))"
check 'the text has the same age for a reader in a third time namespace' grep -Eq "$recent" \
    <<<"$(said unshare -T --boottime $((2 * DAY)))"

stay sleep infinity
published "$PID"
same 'a publisher in the first time namespace published just now' 0 \
    "$(age unshare -T --boottime $DAY)"

done_testing
