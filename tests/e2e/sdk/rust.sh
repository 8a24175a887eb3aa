#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Rust bridge, demo/sdk/rust, with the newest versions of OpenTelemetry and
# with those of a year before: a server on tokio's multi-thread runtime, whose
# threads are sampled from outside, and a program that waits at each step.
sampler=$OTELCTX_SDK_SAMPLER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/peers.sh
. "$(dirname "$0")/../peers.sh"

newer_than 1.91 cargo --version ||
    skip_all "machine: the packages of Rust's web servers need Rust 1.91"
target=$BUILD/sdk/rust
wanted=OTELCTX_SPAN_ATTRIBUTES=' http.route, ,rpc.method,cart.items,cart.full,cart.weight,user.name,'

# build new|old: leaves $TMP/new or $TMP/old.
build() {
    crate "$ROOT/tests/e2e/sdk/rust/$1" "$target" 2>&1 | tee "$TMP/warnings"
    not grep -q warning "$TMP/warnings"
    cp "$target/debug/spans" "$TMP/$1"
}

# serve PROGRAM [NAME=VALUE]...: starts the server, as $PID, on port $port.
serve() {
    local program=$1 tries
    shift

    head -c $((4096 * 64)) /dev/zero >"$TMP/truth"
    background env "$@" "$program" serve "$TMP/truth" >"$TMP/port"
    for ((tries = 0; tries < 1000; tries++)); do
        port=$(<"$TMP/port")
        [ -z "$port" ] || return 0
        sleep 0.02
    done
    return 1
}

# sampled PROGRAM [NAME=VALUE]...: the same, requests as long as the sampler
# needs, and what was counted, in $counts and $requests. The server stays.
sampled() {
    local load

    serve "$@"
    touch "$TMP/load"
    python3 "$ROOT/tests/e2e/sdk/rust/load.py" "$port" "$TMP/load" \
        >"$TMP/requests" &
    load=$!
    tap_pids+=("$load")
    counts=$("$sampler" "$TMP/truth" 10000 120)
    rm "$TMP/load"
    wait "$load"
    requests=$(<"$TMP/requests")
    echo "# $counts; $requests"
}

# of WORD: the number after it.
of() {
    awk -v word="$1" '{for (i = 1; i < NF; i++) if ($i == word) print $(i + 1)}' <<<"$counts $requests"
}
# at_least NUMBER WORD
at_least() {
    echo "$counts $requests"
    [ "$(of "$2")" -ge "$1" ]
}
share() {
    echo "$counts"
    [ $((100 * $(of "$1"))) -gt $((99 * $(of samples))) ]
}

# showing: the threads of the server that show a context, or cannot be read.
showing() {
    "$READ" --json --threads "$PID" | jq -r '
        (.thread_context | select(.status != "ok") | tostring),
        (.threads[] | select(.status | IN("detached", "untouched", "ended") | not)
            | "\(.tid) \(.status)")'
}

# seen PID: the main thread, as `spans steps` has it.
seen() {
    "$READ" --json --threads "$1" 2>&1 | jq -r --argjson pid "$1" '
        .threads[] | select(.tid == $pid) |
            if .status == "attached" then
                "\(.trace_id) \(.span_id) \(.trace_flags) " +
                ([.attributes[] | "\(.key)=\(.value.stringValue)"] | sort | join(" "))
            elif .status == "untouched" then
                "detached"
            else
                .status
            end | sub(" $"; "")'
}

# walk COMMAND...: what a reader sees at each step, in $TMP/seen, and what the
# program says that it should see, in $TMP/due.
walk() {
    local there back line pid step

    mkfifo "$TMP/there" "$TMP/back"
    background walked "$@"
    exec {there}>"$TMP/there" {back}<"$TMP/back"
    rm "$TMP/there" "$TMP/back"
    : >"$TMP/due"
    : >"$TMP/seen"
    while read -r -t 120 line <&"$back"; do
        echo "$line" >>"$TMP/due"
        pid=${line%% *} step=${line%%:*}
        echo "$step: $(seen "$pid")" >>"$TMP/seen"
        echo >&"$there"
    done
    exec {there}>&- {back}<&-
    wait "$PID"
}
walked() {
    exec env "$@" <"$TMP/there" >"$TMP/back"
}
# steps COUNT COMMAND...
steps() {
    walk "${@:2}"
    diff "$TMP/due" "$TMP/seen"
    echo "$(wc -l <"$TMP/due") steps"
    [ "$(wc -l <"$TMP/due")" = "$1" ]
}

# plain COMMAND...: its steps without ids, and its stderr. Without the shim, it has
# no other record to attach.
plain() {
    yes '' | env "$@" 2>&1 |
        sed -E 's/^[0-9]+ //; s/[0-9a-f]{32} [0-9a-f]{16}/IDS/; /(another|the other) record/d'
}

# cases VERSION: what both versions of the SDK have to pass.
cases() {
    check "$1: it builds without a warning" build "$1"
    sampled "$TMP/$1" LD_PRELOAD="$SHIM" "$wanted" OTELCTX_RESOURCE=sdk
    check "$1: at least 10000 samples inside handlers" at_least 10000 samples
    check "$1: of many traces" at_least 20 traces
    same "$1: none shows another trace or span" 0 "$(of wrong)"
    same "$1: none shows another route" 0 "$(of misrouted)"
    check "$1: more than 99 % show their span" share shown
    check "$1: more than 99 % show their route" share routes
    same "$1: the exporter has the spans that the handlers saw" 0 "$(of missing)"
    same "$1: after the load no thread shows anything" '' "$(showing)"
    same "$1: the SDK's resource is the process context" \
        'service.instance.id=till-7 service.name=shop shop.open=true shop.tills=12' \
        "$(resource "$PID" | sort | xargs)"
    kill "$PID"
    check "$1: readers see what the SDK says, at each step" \
        steps 25 LD_PRELOAD="$SHIM" "$wanted" "$TMP/$1" steps
}

cases new
check 'new, observer: readers see what the SDK says, also without tracing' \
    steps 32 LD_PRELOAD="$SHIM" "$wanted" "$TMP/new" steps observe
cases old

check 'with the layers in the wrong order, nothing is shown' \
    steps 3 LD_PRELOAD="$SHIM" "$TMP/new" misplaced
contains 'and that is told' \
    "otelctx::layer() belongs after OpenTelemetry's layer; nothing is shown" \
    "$(plain LD_PRELOAD="$SHIM" "$TMP/new" misplaced)"

# What few programs do: tests/e2e/sdk/rust/corners.rs.
corner() { # STEPS CASE
    steps "$1" LD_PRELOAD="$SHIM" "$wanted" "$TMP/new" corner "$2"
}
check 'a second layer does no harm' corner 2 twice
check 'a layer may come while spans are entered' corner 3 reload
check 'the fields of a span that OpenTelemetry does not know are not shown' corner 3 filtered
check 'where a span is left, the record of another part of the program stays' corner 4 beside

alone=$(plain "$TMP/new" steps)
same 'without the shim it prints the same' "$alone" \
    "$(plain "$wanted" OTELCTX_RESOURCE=sdk "$TMP/new" steps)"
same 'with the shim it prints the same' "$alone" \
    "$(plain LD_PRELOAD="$SHIM" "$wanted" OTELCTX_RESOURCE=sdk "$TMP/new" steps)"
same 'with a disabled shim it prints the same' "$alone" \
    "$(plain LD_PRELOAD="$SHIM" OTELCTX_DISABLED=true "$wanted" OTELCTX_RESOURCE=other "$TMP/new" steps)"
contains 'an unknown value of OTELCTX_RESOURCE is told' \
    "OTELCTX_RESOURCE: unknown value \"other\", ignored" \
    "$(plain LD_PRELOAD="$SHIM" OTELCTX_RESOURCE=other "$TMP/new" steps)"
done_testing
