# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the tests of servers: all the processes of one.

# tree PID: it and its descendants, one a line.
tree() {
    local children child

    echo "$1"
    children=$(cat "/proc/$1/task/"*/children 2>/dev/null) || return 0
    for child in $children; do
        tree "$child"
    done
}

# tree_published PID COUNT: so many processes at least, each with a context and
# an instance id that no other has.
tree_published() {
    local process

    for process in $(tree "$1"); do
        published "$process" || [ ! -e "/proc/$process/exe" ] || return 1
    done
    tree "$1" | xargs "$READ" --json | jq -r '"\(.pid) \(.command) \(.status) " +
        "\(.contexts[].resource.attributes[] | select(.key == "service.instance.id")
            .value.stringValue)"' | tee "$TMP/tree"
    [ "$(wc -l <"$TMP/tree")" -ge "$2" ]
    [ -z "$(cut -d ' ' -f 4 "$TMP/tree" | sort | uniq -d)" ]
}
