#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Writers of other projects, from their registries, share `otel_thread_ctx_v1` with
# the shim: libdatadog, in a Rust program that exports the variable; Datadog's tracer
# for Python, which has libdatadog in a library; its agent for Java, whose profiler
# hides records with `valid` instead of the pointer.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/peers.sh
. "$(dirname "$0")/../peers.sh"
# shellcheck source=tests/e2e/sharing.sh
. "$(dirname "$0")/../sharing.sh"

# libdatadog uses the key with index 0 for this attribute.
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
    same "a reader sees libdatadog's context" "attached 0c0c0c0c0c0c0c0c $new
detached" "$(attached)"
    same 'libdatadog updates it in place' "update 0
$refused
live 1
attached 0d0d0d0d0d0d0d0d $updated
detached" "$(calls update "${words[@]}" live && attached)"
    same 'libdatadog detaches and frees its own record' $'clear 1\nslot 0\nlive 0' \
        "$(calls clear slot live)"

    same 'then the shim can attach a context' "attach 0
attr 0
slot 1
$ours http.route=ours
detached" "$(calls attach attr slot && attached)"
    same "a nested context of libdatadog restores the shim's" "nest 1
live 0
get 0
$ours http.route=ours
detached" "$(calls nest live get && attached)"
    same "what libdatadog writes into the shim's record stays in it" "update 0
get 0
live 0
attached 0d0d0d0d0d0d0d0d $updated
detached" "$(calls update get live && attached)"
    same "the shim replaces libdatadog's attributes" "attr 0
attached 0d0d0d0d0d0d0d0d ${updated%new}ours
detached" "$(calls attr && attached)"
    same 'after a detach libdatadog finds no record' "$(printf '%s 0\n' \
        detach slot clear)" "$(calls detach slot clear)"
    stop
else
    skip 'libdatadog'\''s writer' 'machine: its packages need Rust 1.91'
fi

# Installs the list only when it has changed: that takes half a minute.
ddtrace() {
    local list=$ROOT/tests/e2e/world/writers/ddtrace/requirements.txt

    ! cmp -s "$list" "$built/ddtrace/requirements.txt" || return 0
    rm -rf "$built/ddtrace"
    python3 -m pip install --quiet --no-cache-dir --no-deps --require-hashes \
        --only-binary=:all: --target "$built/ddtrace" -r "$list"
    cp "$list" "$built/ddtrace/"
}

# The next two writers also publish a process context, so the shim withdraws its
# own, and readers do not know the shim's keys.
ESTALE=-116
yielded=${refused/attr $EBUSY/attr $ESTALE}
yielded=${yielded/unset $EBUSY/unset $ESTALE}
silent=OTELCTX_PUBLISH=configured
offline=(DD_TRACE_AGENT_URL=unix:///nonexistent
    DD_INSTRUMENTATION_TELEMETRY_ENABLED=false
    DD_REMOTE_CONFIGURATION_ENABLED=false)

if newer_than 3.11 python3 --version; then
    check 'Datadog'\''s tracer for Python installs' ddtrace
    run "$ROOT/tests/e2e/world/writers/ddtrace/host.py" "${offline[@]}" \
        PYTHONPATH="$built/ddtrace" "$silent"
    main=".tid == $PID"

    outer=$(call span)
    same "Datadog's tracer for Python shows its span in the shim's variable" \
        "attached $outer datadog.local_root_span_id=$outer" \
        "$(threads_where "$main")"
    same "every call leaves the tracer's context alone" "$yielded
kept 1" "$(calls "${words[@]}" kept)"
    inner=$(call span)
    same 'every call leaves the context of a nested span alone' "$yielded
kept 1
attached $inner datadog.local_root_span_id=$outer" \
        "$(calls "${words[@]}" kept && threads_where "$main")"
    same "when the tracer's spans have ended the shim can attach a context" "finish 0
finish 0
attach 0
attr $ESTALE
$ours
detach 0
detached" "$(calls finish finish attach attr && threads_where "$main" &&
        calls detach && threads_where "$main")"
    again=$(call span)
    same 'after a detach the tracer can show a span again' \
        "attached $again datadog.local_root_span_id=$again" \
        "$(threads_where "$main")"
    stop
else
    skip 'Datadog'\''s tracer for Python' 'machine: it needs Python 3.11'
fi

agent=dd-java-agent-1.68.1
java_agent() {
    javac -d "$built" "$ROOT/tests/e2e/world/writers/java/Host.java"
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

    for ((tries = 0; tries < 3000; tries++)); do
        [ -z "$(threads_where "$rooted" 2>/dev/null)" ] || return 0
        sleep 0.4
    done
    "$READ" --threads "$PID"
    cat "$TMP/java"
    return 1
}

if newer_than 11 javac -version; then
    check "Datadog's agent for Java downloads" java_agent
    background traced_java
    check "a reader sees the span that the agent's profiler writes" in_span
else
    skip 'Datadog'\''s agent for Java' 'machine: it needs Java 11'
fi

done_testing
