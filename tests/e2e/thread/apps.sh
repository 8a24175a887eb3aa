#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The programs of demo/apps, one per language, read from outside while they wait:
# with `hold` they print their step, "query", "request" or "idle" (and the number
# of the worker if only one is at it), and wait for a line.
#
intruder=$OTELCTX_INTRUDER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

apps=$ROOT/demo/apps
built=$BUILD/apps
mkdir -p "$built"

# The names of a program's workers without their numbers, if it names them; and
# the status of a worker without a context, if not "detached".
named=worker-
pinned=

# Where the reader looks, if not in TLS: "ring", which has neither flags nor
# attributes; and how many bytes of a trace id the program stores there.
storage=
ring_bytes=16

# due STEP: the threads with a context that a reader should see, one per line.
due() {
    local what=${1%% *} number numbers='1 2 3' level attributes
    local zeroes=$((16 - ring_bytes))

    [ -n "$storage" ] || zeroes=0
    [ "$what" = "$1" ] || numbers=${1##* }
    for number in $numbers; do
        case $what in
        query) level=2 attributes='db.operation.name=SELECT' ;;
        request) level=1 attributes="http.route=/cart user.id=user-$number" ;;
        idle)
            [ -z "$pinned" ] || [ -n "$storage" ] || echo "${named:+$named$number }$pinned"
            continue
            ;;
        esac
        [ -z "$storage" ] || attributes=
        echo "${named:+$named$number }$(bytes 0 0 $zeroes)$(
            bytes 0 "$number" $((16 - zeroes)))" \
            "$(bytes $level "$number" 8)${attributes:+ 1 $attributes}"
    done
}

# bytes HIGH LOW COUNT: COUNT bytes of these two hexadecimal digits.
bytes() {
    ((!$3)) || printf "$1$2%.0s" $(seq "$3")
}

# seen: the threads with a context that the reader sees. Only a runtime's threads
# end meanwhile.
seen() {
    [ -z "$storage" ] || { "seen_in_$storage"; return; }
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

seen_in_ring() {
    "$READ" --json --threads "$PID" | jq -r --arg named "$named" '
        .threads[] | select(.ring.status == "attached") |
            (if $named == "" then "" else .name + " " end) +
            .ring.trace_id + " " + .ring.span_id' | LC_ALL=C sort
}

# visit COMMAND...: runs it under the shim, step by step; prints what the reader
# saw at each step, what else the command printed, and its exit status.
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
    exec env LD_PRELOAD="$SHIM" OTELCTX_THREAD_STORAGE="${storage:-tls}" \
        "$@" hold <"$TMP/there" >"$TMP/back" 2>&1
}

# run COMMAND...: its output and exit status.
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
    storage=ring
    same "$name: readers of a ring see the same ids" \
        "$(while read -r step; do echo "$step" && due "$step"; done <<<"$steps"
            echo "$plain")" "$(visit "$@")"
    storage=
    same "$name: it prints the same under the shim" "$plain" \
        "$(run env LD_PRELOAD="$SHIM" "$@")"
    same "$name: it prints the same under a disabled shim" "$plain" \
        "$(run env LD_PRELOAD="$SHIM" OTEL_SDK_DISABLED=true "$@")"
}

# beside NAME STEPS COMMAND...: as app, but another SDK (hosts/intruder.c) attaches
# a record of its own when a query starts, or when it ends.
beside() {
    local name=$1 steps=$2 step SHIM=$intruder:$SHIM
    shift 2

    same "$name: when a span cannot be attached, the outer one stays" \
        "$(while read -r step; do
            echo "$step" && due "${step/query/request}"
        done <<<"$steps" && run "$@")" "$(visit env INTRUDER=in "$@")"
    same "$name: when a record cannot be swapped back, it stays" \
        "$(while read -r step; do
            echo "$step" && due "${step/request/query}"
        done <<<"$steps" && run "$@")" "$(visit env INTRUDER=out "$@")"
}

# has NAME COMMAND...: are these commands installed? If not, skips NAME.
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

samples=$(OTELCTX_THREAD_STORAGE=profiler LD_PRELOAD=$SHIM \
    "$BUILD/demo/apps/profiler" 200) || samples+=" (status $?)"
same 'C: a profiler in the process counts samples by span, and none is torn' \
    'torn: 0 of all samples' "$(awk '
        /samples$/ { sum += $(NF - 1) }
        /^torn/ { print $4 == sum && sum >= 200 ? "torn: " $2 " of all samples" : $0 }
        / \(status/ { print }' <<<"$samples")"
same 'C: without the storage the program says so' \
    'no context_tls_v1: OTELCTX_THREAD_STORAGE=profiler is not set' \
    "$(LD_PRELOAD=$SHIM "$BUILD/demo/apps/profiler")"

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
    pinned=invalid ring_bytes=8
    app Java "$in_threads" java Worker
    pinned='' ring_bytes=16
    cat >"$TMP/Ids.java" <<'EOJ'
public final class Ids {
    public static void main(String[] arguments) {
        var context = new ThreadContext();

        System.out.println(ThreadContext.isOtelMode());
        System.out.println(context.put(-2, 0x4bf92f35L));
        System.out.println(context.getSpanId() + " " + context.getRootSpanId());
        System.out.println(context.put(0, 0));
        System.out.println(context.getSpanId() + " " + context.getRootSpanId());
    }
}
EOJ
    ids() { LD_PRELOAD=$SHIM OTELCTX_THREAD_STORAGE=$1 java "$TMP/Ids.java"; }
    same 'Java: a thread gets the two ids back that it put into a ring' \
        $'true\n0\n-2 1274621749\n0\n0 0' "$(ids ring)"
    same 'Java: a thread gets the two ids back that it put into TLS' $'false\n0\n-2 1274621749\n0\n0 0' "$(ids tls)"
    same 'Java: without storage there are no ids' $'false\n-95\n0 0\n-95\n0 0' \
        "$(ids off)"
fi

# Ruby's query is a fiber, which the request resumes twice.
if has Ruby ruby; then
    app Ruby "${in_threads/idle/$in_threads}" ruby "$apps/worker.rb"
fi

named= # from here on, no program names its threads for the kernel

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
    # A query is a task of its own, which starts within its request. While all
    # tasks wait, no thread has a context.
    app 'Python, asyncio' "$(
        printf 'request %d\nquery %d\n' 1 1 2 2 3 3
        echo idle
        printf 'query %d\n' 1 2 3
        printf 'request %d\nidle\n' 1 2 3
    )" python3 "$apps/python/tasks.py"

    # Is there a context in the pool's thread, in it afterwards, and in the caller?
    same 'Python, to_thread: a thread of the pool keeps no context of its caller' \
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
    npm install --prefix "$built/node" --cache "$built/npm" --ignore-scripts
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
