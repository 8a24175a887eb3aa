# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the test scripts where the shim shares `otel_thread_ctx_v1`, after
# common.sh: calls of a program that `drive` started, and what a reader sees.

# shellcheck disable=SC2034 # for those who source it
EBUSY=-16

# calls WORD...: makes them and prints what each returned.
calls() {
    local word

    for word; do echo "$word $(call "$word")"; done
}

# attached: what a reader sees of the program's threads, the one named "worker"
# first.
attached() {
    threads_where true
}
threads_where() {
    "$READ" --json --threads "$PID" | jq -r ".threads
        | sort_by(.name != \"worker\")[] | select($1)
        | [.status, .span_id // empty,
            (.attributes[]? | \"\\(.key)=\\(.value.stringValue)\")]
        | join(\" \")"
}
