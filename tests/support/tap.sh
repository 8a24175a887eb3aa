# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by test scripts in bash: prints TAP, one case per sentence.
#
#     . "$(dirname "$0")/../support/tap.sh"
#
#     same 'the host prints what it always printed' "$plain" "$preloaded"
#     check 'the reader finds the process' "$READER" --pid "$PID"
#     check 'a second reader finds nothing' not "$READER" --pid 1
#     done_testing
#
# A sentence has no '#': TAP would take the rest for a directive. A command that
# fails outside of these functions ends the script, which is a failure.
set -eu

TMP=$(mktemp -d)
tap_count=0
tap_failed=0
tap_ended=
tap_pids=()

# check SENTENCE COMMAND...: COMMAND succeeds. It runs in a subshell with
# errexit, so that every failing line of a function counts, which it would not
# within `if`. The subshell ends the background processes that COMMAND started.
check() {
    local sentence=$1 status tap_pids=()
    shift
    set +e
    (
        set -e
        trap tap_stop EXIT
        "$@"
    ) >"$TMP/.check" 2>&1
    status=$?
    set -e
    if [ $status = 0 ]; then
        tap_ok "$sentence"
    else
        tap_not_ok "$sentence" "$*" "exit status $status" "$(<"$TMP/.check")"
    fi
}

# For check: the command exits with a failure, not by a signal.
not() {
    local status=0

    "$@" || status=$?
    [ $status -gt 0 ] && [ $status -lt 126 ]
}

# same SENTENCE EXPECTED ACTUAL
same() {
    if [ "$2" = "$3" ]; then
        tap_ok "$1"
    else
        tap_not_ok "$1" "$(diff -u --label expected --label actual \
            <(printf '%s\n' "$2") <(printf '%s\n' "$3"))"
    fi
}

# contains SENTENCE NEEDLE HAYSTACK
contains() {
    case $3 in
    *"$2"*) tap_ok "$1" ;;
    *) tap_not_ok "$1" "not found: $2" "in:" "$3" ;;
    esac
}

# skip SENTENCE REASON. In CI only a reason that starts with "machine: " is
# accepted: a thing that this machine cannot do at all.
skip() {
    tap_ok "$1 # SKIP $2"
}

# skip_all REASON: ends the script, before the first case.
skip_all() {
    echo "1..0 # SKIP $1"
    tap_ended=1
    exit 0
}

# show LINE...: rows of a table that the summary of tests/run prints, too.
show() {
    printf '#| %s\n' "$@"
}

# background COMMAND...: runs until the script ends; its pid is in $PID.
background() {
    "$@" &
    PID=$!
    tap_pids+=("$PID")
}

done_testing() {
    echo "1..$tap_count"
    tap_ended=1
    exit $((tap_failed > 0))
}

tap_ok() {
    echo "ok $((++tap_count)) - $1"
}

# tap_not_ok SENTENCE DIAGNOSTICS...
tap_not_ok() {
    echo "not ok $((++tap_count)) - $1"
    tap_failed=$((tap_failed + 1))
    shift
    printf '%s\n' "$@" | sed 's/^/# /'
}

# The pid of a reaped process may belong to another process by now.
tap_running() {
    local pid running

    running=" $(jobs -pr | tr '\n' ' ')"
    for pid in "${tap_pids[@]}"; do
        [[ $running != *" $pid "* ]] || echo "$pid"
    done
}

# TERM first: then a server ends its workers.
tap_stop() {
    local pid tries

    for pid in $(tap_running); do kill "$pid" || :; done
    for ((tries = 0; tries < 20; tries++)); do
        [ -n "$(tap_running)" ] || return 0
        sleep 0.05
    done
    for pid in $(tap_running); do kill -KILL "$pid" || :; done
}

tap_exit() {
    local status=$? command=$BASH_COMMAND

    set +e
    tap_stop 2>/dev/null
    rm -rf "$TMP"
    if [ -z "$tap_ended" ]; then
        tap_not_ok 'the script runs to its end' \
            "stopped with exit status $status at: ${command%%$'\n'*}"
        echo "1..$tap_count"
        exit 1
    fi
}
trap tap_exit EXIT
