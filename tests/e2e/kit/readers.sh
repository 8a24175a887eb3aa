#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Readers, judged: the table in demo/kit/README.md.
JUDGE=$OTELCTX_JUDGE
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/peers.sh
. "$(dirname "$0")/../peers.sh"

judge() {
    "$JUDGE" --json --timeout 60000 --adapter "$ROOT/tests/e2e/kit/readers/otlp.jq" -- "$@" ||
        [ $? != 2 ]
}

# cells: a line per group: "GROUP | COUNT | what is not right", of what was
# judged. What cannot be staged here counts, and is not judged.
cells() {
    jq -rs 'def groups: reduce .[] as $one ([];
                if length > 0 and .[-1][0].group == $one.group
                then .[-1] += [$one] else . + [[$one]] end);
        map({group: (.scenario | split("/")[0]),
             name: (.scenario | split("/")[1]), verdict})
        | groups[]
        | "\(.[0].group) | \(length) | \([.[]
            | select(.verdict != "right" and .verdict != "not staged")
            | "\(.verdict): `\(.name)`"]
            | if . == [] then "all right" else join("<br>") end)"' "$1"
}
# Of a reader that reads its own process only: groups that have no scenario there.
cells_alone() {
    cells "$1" | while IFS= read -r row; do
        grep -qE "^\{\"scenario\":\"${row%% *}/.*\"verdict\":\"(right|refused|wrong)\"" "$1" ||
            row="${row%all right}not judged"
        printf '%s\n' "$row"
    done
}
# version_of PACKAGE FILE: the version that a go.mod or a Cargo.toml asks for.
version_of() {
    sed -En "s|^$1 = .*\"=([0-9.]+)\".*|\1|p; s|.*/$1 (v[0-9.]+).*|\1|p" \
        "$ROOT/tests/e2e/world/readers/$2"
}
table() {
    echo "| scenarios | number | \`otelctx-read\` |" \
        "eBPF profiler $(version_of ebpf-profiler ebpf_profiler/go.mod) |" \
        "libdatadog $(version_of libdd-library-config libdatadog/Cargo.toml) |"
    echo '|---|---|---|---|---|'
    paste -d '@' <(cells "$TMP/ours") <(cells "$TMP/profiler" | sed 's/.* | //') \
        <(cells_alone "$TMP/libdatadog" | sed 's/.* | //') |
        sed 's/^/| /; s/@/ | /g; s/$/ |/'
}
# settled: the rows that are the same in each run.
settled() {
    sed -n '/^| scenarios/,/^$/p' | grep -vE '^$|^\| (header|moving) '
}

if ! newer_than 1.25 go version; then
    skip_all 'machine: the packages of the eBPF profiler need Go 1.25'
fi
if ! newer_than 1.91 cargo --version; then
    skip_all 'machine: the crates of libdatadog need Rust 1.91'
fi
check 'the eBPF profiler'\''s reader builds' ebpf_profiler
check 'libdatadog'\''s reader builds' libdatadog
judge "$READ" --json --threads '{}' >"$TMP/ours"
judge "$built/ebpf_profiler" '{}' json >"$TMP/profiler"
"$JUDGE" --json --timeout 60000 -- \
    "$built/libdatadog/debug/libdatadog_kit" '{name}' >"$TMP/libdatadog" || [ $? != 2 ]
same 'the table in demo/kit/README.md is what the judge says' \
    "$(settled <"$ROOT/demo/kit/README.md")" "$(table | settled)"
same 'and otelctx-read is right in every row' '' \
    "$(cells "$TMP/ours" | grep -v 'all right$')"
same 'the eBPF profiler shows no context that is not there' '' \
    "$(jq -r 'select(.verdict == "wrong") | .scenario' "$TMP/profiler")"
same 'neither does libdatadog' '' \
    "$(jq -r 'select(.verdict == "wrong") | .scenario' "$TMP/libdatadog")"
mapfile -t rows < <(table)
show "${rows[@]}"
done_testing
