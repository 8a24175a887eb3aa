#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The programs of demo/apps, one a language, read from outside while they stand
# still: with `hold` they say on stdout what they are at, "query", "request" or
# "idle" (and a number when only that worker is), and wait for a line.
#
intruder=$OTELCTX_INTRUDER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

apps=$ROOT/demo/apps
built=$BUILD/apps
mkdir -p "$built"

# The names of a program's workers without their numbers, when it names them;
# and what a reader says of one that works for nothing, if not "detached".
named=worker-
pinned=

# due STEP: the threads that a reader is to see then, one a line.
due() {
    local what=${1%% *} number numbers='1 2 3' level attributes

    [ "$what" = "$1" ] || numbers=${1##* }
    for number in $numbers; do
        case $what in
        query) level=2 attributes='db.operation.name=SELECT' ;;
        request) level=1 attributes="http.route=/cart user.id=user-$number" ;;
        idle)
            [ -z "$pinned" ] || echo "${named:+$named$number }$pinned"
            continue
            ;;
        esac
        echo "${named:+$named$number }$(bytes 0 "$number" 16)" \
            "$(bytes $level "$number" 8) 1 $attributes"
    done
}

# bytes HIGH LOW COUNT: that many bytes of two hexadecimal digits.
bytes() {
    printf "$1$2%.0s" $(seq "$3")
}

# seen: what the reader does see. A thread that ends meanwhile is a runtime's.
seen() {
    "$READ" --json --threads "$PID" | jq -r --arg named "$named" '
        (.thread_context | select(.status != "ok") | tostring),
        (.threads[] | select(.status | IN("detached", "untouched", "ended") | not)
            | (if $named == "" then "" else .name + " " end) +
            if .status == "attached" then
                "\(.trace_id) \(.span_id) \(.trace_flags) " +
                ([.attributes[] | "\(.key)=\(.value.stringValue)"] | sort | join(" "))
            else
                .status
            end)' | LC_ALL=C sort
}

# visit COMMAND...: runs it under the shim and walks it through its steps; what
# was seen at each, what else it printed, and how it ended.
visit() {
    local line there back status=0

    mkfifo "$TMP/there" "$TMP/back"
    background held "$@"
    exec {there}>"$TMP/there" {back}<"$TMP/back"
    rm "$TMP/there" "$TMP/back"
    while read -r -t 120 line <&"$back"; do
        echo "$line"
        case $line in
        query* | request* | idle*)
            seen
            echo >&"$there"
            ;;
        esac
    done
    exec {there}>&- {back}<&-
    wait "$PID" || status=$?
    echo "status $status"
}
held() {
    exec env LD_PRELOAD="$SHIM" "$@" hold <"$TMP/there" >"$TMP/back" 2>&1
}

# run COMMAND...: what it prints, and how it ends.
run() {
    local status=0

    "$@" </dev/null 2>&1 || status=$?
    echo "status $status"
}

# app NAME STEPS COMMAND...
app() {
    local name=$1 steps=$2 step plain
    shift 2

    plain=$(run "$@")
    same "$name: readers see what each thread works for, at each step" \
        "$(while read -r step; do echo "$step" && due "$step"; done <<<"$steps"
            echo "$plain")" "$(visit "$@")"
    same "$name: it prints the same under the shim" "$plain" \
        "$(run env LD_PRELOAD="$SHIM" "$@")"
    same "$name: and under a disabled one" "$plain" \
        "$(run env LD_PRELOAD="$SHIM" OTEL_SDK_DISABLED=true "$@")"
}

# beside NAME STEPS COMMAND...: as app, with another SDK (hosts/intruder.c) in the
# way when a query starts, or when it ends.
beside() {
    local name=$1 steps=$2 step SHIM=$intruder:$SHIM
    shift 2

    same "$name: a span that cannot be shown changes nothing" \
        "$(while read -r step; do
            echo "$step" && due "${step/query/request}"
        done <<<"$steps" && run "$@")" "$(visit env INTRUDER=in "$@")"
    same "$name: the record of one that cannot be swapped back stays" \
        "$(while read -r step; do
            echo "$step" && due "${step/request/query}"
        done <<<"$steps" && run "$@")" "$(visit env INTRUDER=out "$@")"
}

# has NAME COMMAND...: these are here, or else it skips NAME.
has() {
    local name=$1 missing=()
    shift

    for command; do
        command -v "$command" >/dev/null || missing+=("$command")
    done
    [ ${#missing[@]} = 0 ] || {
        skip "$name: readers see what each thread works for, at each step" \
            "machine: no ${missing[*]}"
        return 1
    }
}

in_threads=$'query\nrequest\nidle'

app C "$in_threads" "$BUILD/demo/apps/worker"
beside C "$in_threads" "$BUILD/demo/apps/worker"

build_cpp() {
    g++ -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
        -Wold-style-cast -Werror -I"$ROOT/shim" -o "$built/worker_cpp" \
        "$apps/worker.cpp" -pthread -ldl
}
if has C++ g++; then
    check 'C++: it builds without a warning' build_cpp
    app C++ "$in_threads" "$built/worker_cpp"
    beside C++ "$in_threads" "$built/worker_cpp"
fi

build_rust() {
    cargo build --locked --quiet --target-dir "$built/rust" \
        --manifest-path "$apps/rust/Cargo.toml" 2>&1 | tee "$TMP/rust"
    ! grep -q warning "$TMP/rust"
}
if has Rust cargo; then
    check 'Rust: it builds without a warning' build_rust
    app Rust "$in_threads" "$built/rust/debug/worker"
    beside Rust "$in_threads" "$built/rust/debug/worker"
fi

build_java() {
    mkdir -p "$built/java"
    javac -Xlint:all,-try -Werror -d "$built/java" "$apps"/java/*.java
}
export CLASSPATH=/usr/share/java/jna.jar:$built/java
if has Java javac; then
    check 'Java: it builds without a warning' build_java
    pinned=invalid
    app Java "$in_threads" java Worker
    pinned=
fi

# Its query is a fiber, which the request resumes twice.
if has Ruby ruby; then
    app Ruby "${in_threads/idle/$in_threads}" ruby "$apps/worker.rb"
fi

named= # from here on, nothing names a thread for the kernel

build_golang() {
    (cd "$apps/go" && go vet . && go build -buildvcs=false -o "$built/worker_go" .)
}
if has Go go gcc; then
    check 'Go: it builds, and vet finds nothing' build_golang
    app Go "$in_threads" "$built/worker_go"
    beside Go "$in_threads" "$built/worker_go"
fi

export PYTHONDONTWRITEBYTECODE=1
if has Python python3; then
    app 'Python, threads' "$in_threads" python3 "$apps/python/threads.py"
    beside 'Python, threads' "$in_threads" python3 "$apps/python/threads.py"
    # A query is a task of its own, which starts within its request. When all
    # wait for their rows, nothing is to be seen.
    app 'Python, asyncio' "$(
        printf 'request %d\nquery %d\n' 1 1 2 2 3 3
        echo idle
        printf 'query %d\n' 1 2 3
        printf 'request %d\nidle\n' 1 2 3
    )" python3 "$apps/python/tasks.py"

    # Within, behind, and where it was called: is there a context?
    same 'Python, to_thread: a thread of the pool keeps nothing of its caller' \
        '(0, -2, 0)' "$(LD_PRELOAD=$SHIM PYTHONPATH=$apps/python python3 -c '
import asyncio, ctypes, otelctx

def is_shown():
    return ctypes.CDLL(None).otelctx_get(ctypes.create_string_buffer(64))

def work():
    with otelctx.Span(b"i" * 16, b"i" * 8):
        within = is_shown()
    return within, is_shown()

async def main():
    with otelctx.Span(b"o" * 16, b"o" * 8):
        print((*await asyncio.to_thread(work), is_shown()))

asyncio.run(main())')"
fi

build_node() {
    mkdir -p "$built/node"
    cp "$apps"/node/* "$built/node"
    npm ci --prefix "$built/node" --cache "$built/npm" --ignore-scripts
}
if ! has Node node npm; then
    :
elif (($(node -p 'parseInt(process.versions.node)') < 16)); then
    skip 'Node: readers see what each thread works for, at each step' \
        'machine: koffi needs Node 16'
else
    check 'Node: its one dependency installs, without scripts' build_node
    in_turn=$(printf 'query %d\nrequest %d\nidle\n' 1 1 2 2 3 3)
    app Node "$in_turn" node "$built/node/worker.js"
    beside Node "$in_turn" node "$built/node/worker.js"
fi

done_testing
