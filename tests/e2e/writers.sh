#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `otel_thread_ctx_v1` shared with writers that nobody here wrote, from their
# registries: libdatadog, in a Rust program that exports the variable; Datadog's
# tracer for Python, which brings libdatadog in a library; its agent for Java,
# whose profiler writes in the other style, by `valid` alone.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/e2e/peers.sh
. "$(dirname "$0")/peers.sh"
# shellcheck source=tests/e2e/sharing.sh
. "$(dirname "$0")/sharing.sh"

# What libdatadog makes attribute 0.
keys=OTELCTX_ATTRIBUTE_KEYS=datadog.local_root_span_id,http.route

words=(attach attr unset detach get swapout pin)
refused="attach $EBUSY
attr $EBUSY
unset $EBUSY
detach $EBUSY
get $EBUSY
swapout $EBUSY
pin 0"
ours='attached 2222222222222222'

# run PROGRAM [NAME=VALUE]...: `drive` starts it.
run() {
    DRIVER=$1
    shift
    drive "$keys" "$@"
}

if newer_than 1.91 cargo --version; then
    check 'libdatadog'\''s writer builds' libdatadog
    run "$built/libdatadog/debug/libdatadog_writer"
    new='datadog.local_root_span_id=b0b0b0b0b0b0b0b0 http.route=theirs'
    updated='datadog.local_root_span_id=b1b1b1b1b1b1b1b1 http.route=new'

    same 'libdatadog finds the slot empty' 'slot 0' "$(calls slot)"
    same 'every call leaves libdatadog'\''s context alone' "put 0
$refused" "$(calls put "${words[@]}")"
    same 'a reader sees it' "attached 0c0c0c0c0c0c0c0c $new
detached" "$(attached)"
    same 'libdatadog updates it in place' "update 0
$refused
live 1
attached 0d0d0d0d0d0d0d0d $updated
detached" "$(calls update "${words[@]}" live && attached)"
    same 'and frees what is its own' $'clear 1\nslot 0\nlive 0' \
        "$(calls clear slot live)"

    same 'then the slot is ours' "attach 0
attr 0
slot 1
$ours http.route=ours
detached" "$(calls attach attr slot && attached)"
    same 'a context of libdatadog'\''s within ours puts ours back' "nest 1
live 0
get 0
$ours http.route=ours
detached" "$(calls nest live get && attached)"
    same 'what libdatadog writes into our record stays in it' "update 0
get 0
live 0
attached 0d0d0d0d0d0d0d0d $updated
detached" "$(calls update get live && attached)"
    same 'and we replace its attributes rather than add to them' "attr 0
attached 0d0d0d0d0d0d0d0d ${updated%new}ours
detached" "$(calls attr && attached)"
    same 'our detaching leaves libdatadog nothing' "$(printf '%s 0\n' \
        detach slot clear)" "$(calls detach slot clear)"
    stop
else
    skip 'libdatadog'\''s writer' 'machine: its packages need Rust 1.91'
fi

# Once for each list, because it takes half a minute.
ddtrace() {
    local list=$ROOT/tests/e2e/writers/ddtrace/requirements.txt

    ! cmp -s "$list" "$built/ddtrace/requirements.txt" || return 0
    rm -rf "$built/ddtrace"
    python3 -m pip install --quiet --no-cache-dir --no-deps --require-hashes \
        --only-binary=:all: --target "$built/ddtrace" -r "$list"
    cp "$list" "$built/ddtrace/"
}

# The next two publish a process context of their own, which the shim gives way
# to. Then keys of ours are none to readers.
ESTALE=-116
yielded=${refused/attr $EBUSY/attr $ESTALE}
yielded=${yielded/unset $EBUSY/unset $ESTALE}
silent=OTELCTX_PUBLISH=configured
offline=(DD_TRACE_AGENT_URL=unix:///nonexistent
    DD_INSTRUMENTATION_TELEMETRY_ENABLED=false
    DD_REMOTE_CONFIGURATION_ENABLED=false)

if newer_than 3.11 python3 --version; then
    check 'Datadog'\''s tracer for Python installs' ddtrace
    run "$ROOT/tests/e2e/writers/ddtrace/host.py" "${offline[@]}" \
        PYTHONPATH="$built/ddtrace" "$silent"
    main=".tid == $PID"

    outer=$(call span)
    same 'Datadog'\''s tracer for Python shows its span by our variable' \
        "attached $outer datadog.local_root_span_id=$outer" \
        "$(threads_where "$main")"
    same 'every call leaves its context alone' "$yielded
kept 1" "$(calls "${words[@]}" kept)"
    inner=$(call span)
    same 'also that of a nested span' "$yielded
kept 1
attached $inner datadog.local_root_span_id=$outer" \
        "$(calls "${words[@]}" kept && threads_where "$main")"
    same 'when its spans have ended the slot is ours' "finish 0
finish 0
attach 0
attr $ESTALE
$ours
detach 0
detached" "$(calls finish finish attach attr && threads_where "$main" &&
        calls detach && threads_where "$main")"
    again=$(call span)
    same 'and then its own again' \
        "attached $again datadog.local_root_span_id=$again" \
        "$(threads_where "$main")"
    stop
else
    skip 'Datadog'\''s tracer for Python' 'machine: it needs Python 3.11'
fi

agent=dd-java-agent-1.68.1
java_agent() {
    javac -d "$built" "$ROOT/tests/e2e/writers/java/Host.java"
    [ ! -e "$built/$agent.jar" ] || return 0
    mvn --batch-mode --quiet dependency:copy \
        -Dartifact="com.datadoghq:${agent%-*}:${agent##*-}" \
        -DoutputDirectory="$TMP"
    mv "$TMP/$agent.jar" "$built/"
}
traced_java() {
    exec env LD_PRELOAD="$SHIM" "${offline[@]}" "$silent" "$keys" \
        DD_TRACE_METHODS='Host[work]' DD_PROFILING_ENABLED=true \
        DD_PROFILING_DDPROF_ENABLED=true DD_PROFILING_START_DELAY=0 \
        DD_PROFILING_START_FORCE_FIRST=true DD_PROFILING_TEMPDIR="$TMP" \
        java -javaagent:"$built/$agent.jar" -cp "$built" Host >"$TMP/java" 2>&1
}

# The span of work() is the root of its trace, so the record names it twice.
rooted='.status == "attached" and .attributes[0].value.stringValue == .span_id'
in_span() {
    local tries

    for ((tries = 0; tries < 300; tries++)); do
        [ -z "$(threads_where "$rooted" 2>/dev/null)" ] || return 0
        sleep 0.4
    done
    "$READ" --threads "$PID"
    cat "$TMP/java"
    return 1
}

if newer_than 11 javac -version; then
    check 'Datadog'\''s agent for Java is fetched' java_agent
    background traced_java
    check 'the span that its profiler writes is what a reader sees' in_span
else
    skip 'Datadog'\''s agent for Java' 'machine: it needs Java 11'
fi

done_testing
