#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The bridge for Java: in Jetty under the OpenTelemetry agent, and beside the SDK alone.
# shellcheck disable=SC2317 # functions are called by name
sampler=$OTELCTX_SDK_SAMPLER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=tests/e2e/sdk/java/build.sh
. "$ROOT/tests/e2e/sdk/java/build.sh"

old=(-Dsdk=1.56.0 -Dagent=2.22.0) # of November 2025
wanted=OTELCTX_SPAN_ATTRIBUTES=http.route,,\ shard\ ,cached
quiet=(OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none)

# newest_java: prints the path of a Java that is 22 or later, if there is one.
newest_java() {
    local each version

    for each in java /usr/lib/jvm/*/bin/java; do
        version=$("$each" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
        [ "${version:-0}" -lt 22 ] || { echo "$each"; return; }
    done
}

# ---- The SDK alone

shown() {
    "$READ" --json --threads "$PID" | jq -r '.threads[] | select(.status == "attached")
        | "\(.trace_id) \(.span_id) \(.trace_flags) " +
        ([.attributes[] | "\(.key)=\(.value.stringValue)"] | sort | join(" "))'
}

# visit COMMAND...: runs it step by step; prints what the reader saw at each, and
# what it printed.
visit() {
    local line there back

    mkfifo "$TMP/there" "$TMP/back"
    background held "$@"
    exec {there}>"$TMP/there" {back}<"$TMP/back"
    rm "$TMP/there" "$TMP/back"
    while read -r -t 300 line <&"$back"; do
        echo "$line"
        case $line in
        *' '*' '*) continue ;; # an exported span
        esac
        shown
        echo >&"$there"
    done
    exec {there}>&- {back}<&-
    wait "$PID" || echo "status $?"
}
held() {
    exec env "$@" <"$TMP/there" >"$TMP/back" 2>"$TMP/stderr"
}

# steps TARGET JAVA [NAME=VALUE]...: the command that goes through the steps.
steps() {
    local path

    path=$(class_path "$1" 'opentelemetry-[a-i]*' 'opentelemetry-sdk*')
    command=("${@:3}" OTEL_TRACES_EXPORTER=none "${quiet[@]}" "$2" -cp "$java_bridge:$path" Steps)
}
run_steps() {
    env "${command[@]}" </dev/null >"$TMP/$1.out" 2>"$TMP/$1.err"
}

ids() {
    printf '4bf92f3577b34da6a3ce929d%08x a3ce929d%08x 1 ' "$1" "$2"
}
due() {
    cat <<END
before
outer
$(ids 2 1)http.route=/a
late
$(ids 2 1)cached=true http.route=/late shard=7
inner
$(ids 2 3)
back
$(ids 2 1)cached=true http.route=/later shard=7
remote
11111111111111111111111111111111 2222222222222222 0 
invalid
ended
closed
two a3ce929d00000006
$(ids 7 6)
one a3ce929d00000004
$(ids 5 4)
END
}

# stepped SENTENCE TARGET JAVA [NAME=VALUE]...
stepped() {
    local sentence=$1 plain seen
    shift

    steps "$@"
    run_steps plain || :
    plain=$(grep '.* .* ' "$TMP/plain.out")
    seen=$(visit "LD_PRELOAD=$SHIM" "$wanted" "${command[@]}")
    same "$sentence" "$(due)
${virtual:+virtual
}$plain" "$seen"
}

check 'the bridge builds' build_java_bridge
check 'the programs build with the newest SDK' build_java_programs new
check 'the programs build with the SDK of a year ago' build_java_programs old "${old[@]}"

virtual=
[ "$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')" -lt 21 ] || virtual=1
stepped 'readers see the current span, at each step, and the SDK exports the same' new java
stepped 'the same with the SDK of a year ago' old java
[ -n "$virtual" ] || same 'the bridge prints nothing' '' "$(<"$TMP/stderr")"

steps new java
run_steps plain
run_with() {
    command=("$@" "${command[@]}")
    run_steps other
    steps new java
    diff "$TMP/plain.out" "$TMP/other.out"
    diff "$TMP/plain.err" "$TMP/other.err"
}
check 'with the shim disabled the program prints the same' run_with "LD_PRELOAD=$SHIM" OTELCTX_DISABLED=true "$wanted"
command=("LD_PRELOAD=$SHIM" OTELCTX_RESOURCE=all "${command[@]}")
run_steps other
same 'a wrong value of OTELCTX_RESOURCE is named, and ignored' \
    'otelctx: OTELCTX_RESOURCE=all: it can only be sdk; ignored' "$(<"$TMP/other.err")"

# ---- What few programs do

# corner CASE [OPTION]...: what the reader saw at each step, and the messages.
corner() {
    local path

    path=$(class_path new 'opentelemetry-[a-i]*' 'opentelemetry-sdk*')
    visit "LD_PRELOAD=$SHIM" OTEL_TRACES_EXPORTER=none "${quiet[@]}" java "${@:2}" \
        -cp "$java_bridge:$path" Corners "$1"
    cat "$TMP/stderr"
}
same 'a scope that another thread closes' "entered
$(ids 2 1)
closed false" "$(corner another)"
same 'ids that are none are not shown, and those around them are not either meanwhile' "odd
back
$(ids 2 1)" "$(corner odd)"
same 'scopes that are never closed do not fill the heap' 'survived
11111111111111111111111111111111 2222222222222222 0 ' "$(corner unclosed -Xmx24m)"
same 'of many scopes within each other, the innermost one counts' \
    "$(for level in 151 101 51 1; do
        echo "level $(printf 'a3ce929d%08x' $((level + 2)))"
        ids 2 $((level + 2))
        echo
    done)" "$(corner nested)"
same 'where the SDK makes no spans, the bridge does not change that' 'valid false' \
    "$(corner processors)"
same 'the strict storage of the API can be closed' "entered
$(ids 2 1)
closed" "$(corner storage -Dio.opentelemetry.context.enableStrictContext=true)"
mkdir -p "$TMP/of the program"
library=com/sun/jna/linux-$(uname -m | tr _ -)/libjnidispatch.so
cp "$java_built/bridge/classes/otelctx/library/$library" "$TMP/of the program"
same "the bridge's JNA leaves the program's library and properties alone" "entered
$(ids 2 1)
false null" "$(corner library -Djna.noclasspath=true "-Djna.boot.library.path=$TMP/of the program")"
contains 'and where JNA cannot unpack its own, a line says so' \
    'otelctx: no span is shown: java.lang.UnsatisfiedLinkError: ' "$(corner another -Djna.tmpdir=/proc)"

newest=$(newest_java)
if [ -n "$newest" ]; then
    virtual=1
    stepped 'Java 22 and later: the same, and nothing on a virtual thread' \
        new "$newest" JDK_JAVA_OPTIONS=--enable-native-access=ALL-UNNAMED
    same 'Java 22 and later: the bridge says once that virtual threads show nothing' \
        'otelctx: virtual threads show no span' "$(grep -v '^NOTE: Picked up' "$TMP/stderr")"
    path=$(class_path new 'opentelemetry-[a-i]*' 'opentelemetry-sdk*')
    others="33333333333333333333333333333333 3333333333333333 0 "
    same "Java 22 and later: another tracer's record stays" "within
$others
after
$others" "$(visit "LD_PRELOAD=$SHIM" OTEL_TRACES_EXPORTER=none "${quiet[@]}" "$newest" \
        --enable-native-access=ALL-UNNAMED -cp "$java_bridge:$path" "$ROOT/tests/e2e/sdk/java/Owner.java")"
else
    skip 'Java 22 and later: the same, and nothing on a virtual thread' 'machine: no Java 22'
fi

# ---- Jetty under the agent

# served TARGET JAVA [NAME=VALUE]...: Jetty under the agent; its port is in $port.
served() {
    local path tries

    path=$(class_path "$1" 'opentelemetry-api' 'opentelemetry-co*' 'j*' 'slf4j-api')
    truncate -s 0 "$TMP/truth"
    truncate -s $((4096 * 64)) "$TMP/truth"
    rm -f "$TMP/server" # the port of the server before
    mkfifo "$TMP/input"
    background held_server "TRUTH=$TMP/truth" "LD_PRELOAD=$SHIM" OTEL_TRACES_EXPORTER=console \
        OTEL_SERVICE_NAME=shop "${quiet[@]}" "${@:3}" "$2" "-javaagent:$java_built/$1/lib/opentelemetry-javaagent.jar" \
        "-Dotel.javaagent.extensions=$java_bridge" -cp "$path" Server
    server=$PID
    exec {input}>"$TMP/input"
    rm "$TMP/input"
    for ((tries = 0; tries < 6000; tries++)); do
        port=$(head -n 1 "$TMP/server" 2>/dev/null || :)
        [ -z "$port" ] || return 0
        [ -e "/proc/$server/exe" ] || break
        sleep 0.1
    done
    cat "$TMP/server.err"
    return 1
}
held_server() {
    exec env "$@" <"$TMP/input" >"$TMP/server" 2>"$TMP/server.err"
}

load() {
    exec python3 "$ROOT/tests/e2e/sdk/java/load.py" "$port" 16 <"$TMP/stop" >"$TMP/load"
}

# loaded SAMPLES: samples the server's threads under load.
loaded() {
    mkfifo "$TMP/stop"
    background load
    exec {stop}>"$TMP/stop"
    rm "$TMP/stop"
    counts=$("$sampler" "$TMP/truth" "$1" 300) || counts+=" status $?"
    exec {stop}>&-
    wait "$PID"
    PID=$server
    left=$(shown)
    exec {input}>&-
    wait "$server" || echo "status $?" >>"$TMP/server.err"
}
count() {
    sed -n "s/.*\b$1 \([0-9]*\).*/\1/p" <<<"$counts"
}
is() {
    echo "$counts"
    (("$@"))
}

# in_jetty NAME SAMPLES
in_jetty() {
    loaded "$2"
    echo "# $1: $counts"
    check "$1: enough samples within handlers" is "$(count samples) >= $2"
    check "$1: no sample shows another trace, span or route" is "$(count wrong) + $(count misrouted) == 0"
    check "$1: the samples are of many traces" is "$(count traces) > 100"
    check "$1: more than 99 of 100 samples show the request's span" is "$(count shown) * 100 > $(count samples) * 99"
    check "$1: as many show its route" is "$(count routes) * 100 > $(count samples) * 99"
    same "$1: after the load no thread shows anything" '' "$left"
    same "$1: each request was served in its trace" '' "$(<"$TMP/load")"
    tail -n +2 "$TMP/server" | sort >"$TMP/seen"
    sed -n "s/.*' : \([0-9a-f]* [0-9a-f]*\) SERVER.*/\1/p" "$TMP/server.err" | sort >"$TMP/exported"
    same "$1: the SDK exports the spans that the handlers saw" '' "$(
        diff "$TMP/seen" "$TMP/exported" | head)"
    check "$1: these are many" is "$(wc -l <"$TMP/seen") > 100"
}

served new java "$wanted" OTELCTX_RESOURCE=sdk
PID=$server
same "Jetty: the agent's resource is the process context" $'service.name=shop\ntelemetry.sdk.language=java' \
    "$(resource "$server" | grep -E '^(service.name|telemetry.sdk.language)=')"
contains 'Jetty: it has the instance id' service.instance.id= "$(resource "$server")"
in_jetty Jetty 10000
served old java "$wanted"
in_jetty 'Jetty, the agent of a year ago' 2000

done_testing
