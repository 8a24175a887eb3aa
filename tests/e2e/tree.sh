# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the tests of servers: all the processes of one.

# tree PID: it and its descendants, one a line.
tree() {
    local children child

    echo "$1"
    children=$(cat "/proc/$1/task/"*/children 2>/dev/null) || :
    for child in $children; do
        tree "$child"
    done
}

# tree_published PID COUNT: waits until the tree has at least COUNT processes,
# each with a context; their instance ids must all differ.
tree_published() {
    local tries

    for ((tries = 0; tries < 1000; tries++)); do
        tree_report "$1" >"$TMP/tree"
        [ "$(wc -l <"$TMP/tree")" -lt "$2" ] || grep -qv ' ok ' "$TMP/tree" ||
            break
        sleep 0.1
    done
    cat "$TMP/tree"
    [ $tries -lt 1000 ] && [ -z "$(cut -d ' ' -f 4 "$TMP/tree" | sort | uniq -d)" ]
}
tree_report() {
    tree "$1" | xargs "$READ" --json 2>/dev/null |
        jq -r '"\(.pid) \(.command) \(.status) " + ([.contexts[].resource.attributes[]
            | select(.key == "service.instance.id").value.stringValue] | join(","))'
}
