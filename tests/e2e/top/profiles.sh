#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The profiles that otelctx-top writes, judged by their readers: the collector's
# unmarshaler, pprof, and inferno, which makes flame graphs.
TOP=$OTELCTX_TOP
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/peers.sh
. "$(dirname "$0")/../peers.sh"

newer_than 1.26 go version || skip_all "machine: the collector's packages need Go 1.26"
newer_than 1.84 cargo --version || skip_all 'machine: its Cargo.toml needs Rust 1.84'

here=$ROOT/tests/e2e/top
build_profiles() {
    in_go "$here/profiles" build -o "$built/profiles" .
}
build_flamegraph() {
    crate "$here/profiles/flamegraph" "$built/flamegraph"
}
check 'the readers of the profiles build: pprofile and pprof' build_profiles
check 'and inferno' build_flamegraph
cd "$TMP"

# judge NAME: relays what profiles/main.go finds, and leaves what it describes in
# NAME.described.
judge() {
    local verdict rest

    "$built/profiles" "$1.json" "$1.pprof" "$1.folded" >found
    sed '/^ok /d; /^not ok /d' found >"$1.described"
    while read -r verdict rest; do
        case $verdict in
        ok) tap_ok "$1: $rest" ;;
        not) tap_not_ok "$1: ${rest#ok }" ;;
        esac
    done <found
}

# graph FILE: what the boxes of inferno's flame graph say.
graph() {
    "$built/flamegraph/debug/flamegraph" <"$1" | grep -o '<title>[^<]*' | cut -c8-
}
# total FILE: of folded stacks, as inferno writes it.
total() {
    awk '{sum += $NF} END {print sum}' "$1" | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta'
}

# ---- a run ---------------------------------------------------------------------

odd=$'/items;a "b"\n\\'
background env PYTHONPATH="$ROOT/demo/apps/python" LD_PRELOAD="$SHIM" OTEL_SERVICE_NAME='a "shop"' \
    OTEL_RESOURCE_ATTRIBUTES=greek=%CE%B1,empty= \
    python3 "$here/profiles/burner.py" /cart "$odd" >burning
shop=$PID
background env PYTHONPATH="$ROOT/demo/apps/python" python3 "$here/profiles/burner.py" >burning.alone
alone=$PID
published "$shop"

# profiled NAME OPTION...: writes all three at once, again until both routes and the
# other process ran.
profiled() {
    local name=$1 tries
    shift

    for ((tries = 0; tries < 20; tries++)); do
        "$TOP" --for 2s --folded --by service,http.route,thread,state \
            --pprof "$name.pprof" --otlp-json "$name.json" "$@" "$shop" "$alone" >"$name.folded"
        ! { grep -q ';/cart;' "$name.folded" && grep -q ';/items:' "$name.folded" &&
            grep -qF '"(no context)"' "$name.json"; } || return 0
    done
    return 1
}

check 'one run writes folded stacks, a profile for pprof and OTLP' profiled cpu
judge cpu
own='service.name="a \"shop\"" greek="α" empty=""'
scope='by otelctx-top'
same 'cpu: each process is a resource, each span a link, each route an attribute' \
    "resource process.pid=\"$alone\" cpu:nanoseconds $scope
resource $own process.pid=\"$shop\" cpu:nanoseconds $scope
route \"/cart\" 01010101010101010101010101010101 1111111111111111
route \"/items;a \\\"b\\\"\\n\\\\\" 02020202020202020202020202020202 1212121212121212" \
    "$(sed 's/ thread.name=.*//' cpu.described)"

check 'a run with --wall does, too' profiled wall --wall
judge wall
same 'wall: each process has a second profile, of wall time' \
    "resource process.pid=\"$alone\" cpu:nanoseconds wall:nanoseconds $scope
resource $own process.pid=\"$shop\" cpu:nanoseconds wall:nanoseconds $scope" \
    "$(grep '^resource' wall.described)"

# ---- pprof ---------------------------------------------------------------------

pprof() {
    go tool pprof -sample_index=cpu "$@" cpu.pprof 2>&1
}
contains 'pprof shows processor time unless it is told otherwise' 'Type: cpu' \
    "$(go tool pprof -top cpu.pprof 2>&1)"
raw=$(pprof -raw)
contains 'pprof -raw has the three types of values' 'samples/count cpu/nanoseconds[dflt] wall/nanoseconds' "$raw"
contains 'and the ids of a span as labels' 'span_id:[1111111111111111]' "$raw"
contains 'and the process as a label that is a number' "process.pid:[$shop]" "$raw"
contains 'pprof -top has a row for a route' ' /cart' "$(pprof -top -cum -nodefraction=0)"
contains 'pprof -tags counts by route' ' /cart' "$(pprof -tags | sed -n '/^ *http.route:/,/^$/p')"
same 'pprof -tagfocus finds the samples of a route, and no other' 'http.route:[/cart]' \
    "$(pprof -raw -tagfocus http.route=/cart | grep -o 'http.route:\[[^]]*\]' | sort -u)"

# ---- a flame graph ----------------------------------------------------------------

boxes=$'\n'$(graph cpu.folded)
contains 'inferno takes all of the folded stacks' "all ($(total cpu.folded) us, 100%)" "$boxes"
contains 'it shows a route' $'\n/cart (' "$boxes"
contains 'it shows a route with what ends frames and lines' $'\n/items:a \\&quot;b\\&quot;\\n\\\\ (' "$boxes"
contains 'it shows the process without a context' $'\n(no context) (' "$boxes"

# ---- recordings ------------------------------------------------------------------

# replayed NAME OPTION...
replayed() {
    local name=$1
    shift

    "$TOP" --replay "$name.recording" --folded --pprof "$name.pprof" --otlp-json "$name.json" "$@" \
        >"$name.folded"
}
python3 "$here/recordings.py" hostile >hostile.recording
{ python3 "$here/recordings.py" minute || :; } 2>busy.error | head -n 20000 >busy.recording
for name in hostile busy; do
    check "$name: a recording becomes profiles" replayed $name --by service,http.route,trace,thread,state,span
    judge $name
done
check 'hostile: inferno takes the folded stacks, too' graph hostile.folded
check 'busy: OTLP has several lines' [ "$(wc -l <busy.json)" -gt 1 ]
check 'busy: no line is longer than a file receiver takes' \
    [ "$(wc -L <busy.json)" -lt 1048576 ]
head -n 1 busy.recording >none.recording
check 'none: profiles may be without samples' replayed none
judge none
same 'none: they have no resource and no stack' '' "$(cat none.described none.folded)"

# ---- what cannot be written --------------------------------------------------------

# refused OPTION PATH REASON: exit status and message; what is printed is in stacks.
refused() {
    local status=0 said

    said=$("$TOP" --replay hostile.recording --folded --by service "$1" "$2" 2>&1 >stacks) || status=$?
    same "$1 $2: it says why not, and fails" "1 otelctx-top: $2: $3" "$status $said"
}
"$TOP" --replay hostile.recording --folded --by service >expected
for option in --pprof --otlp-json; do
    refused $option /no/such/folder/file 'No such file or directory'
    refused $option "$TMP" 'Is a directory'
    same "$option: nothing is sampled when the file cannot be opened" '' "$(cat stacks)"
    refused $option hostile.recording 'this is the recording that is to be replayed'
    refused $option /dev/full 'No space left on device'
    check "$option: on a full disk the stacks are printed" cmp stacks expected
done
status=0
said=$("$TOP" --replay hostile.recording --folded --by service --pprof /dev/full --otlp-json spared.json 2>&1 >stacks) ||
    status=$?
same 'one profile that cannot be written is a failure' "1 otelctx-top: /dev/full: No space left on device" \
    "$status $said"
check 'and the other one is written' [ -s spared.json ]
done_testing
