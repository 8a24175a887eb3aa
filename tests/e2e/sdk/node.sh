#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# demo/sdk/node on OpenTelemetry's SDK for Node: the newest one, on the Node that
# its package.json names, and one that was a year old in November 2026, on the
# machine's Node. The threads are read from outside while they handle requests.
sampler=$OTELCTX_SDK_SAMPLER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

built=$BUILD/sdk/node
newest=$built/newest
older=$built/older
bridge=$built/bridge
require=(NODE_OPTIONS="--require $bridge/register.js")

# install DIRECTORY SOURCE...: copies the files, and installs what package.json names,
# as the registry had it that day, unless it is there.
install() {
    local directory=$1
    shift

    mkdir -p "$directory"
    cp -r "$@" "$directory"
    cd "$directory"
    cmp -s package.json node_modules/.installed && return
    npm install --before=2026-11-20 --no-package-lock --cache "$built/npm" \
        --ignore-scripts --no-audit --no-fund
    cp package.json node_modules/.installed
}
install_all() {
    local programs=("$ROOT"/tests/e2e/sdk/node/*.*js) job jobs=()
    local source=$ROOT/demo/sdk/node

    (install "$newest" "${programs[@]}" "$ROOT"/tests/e2e/sdk/node/newest/*) & jobs+=($!)
    (install "$older" "${programs[@]}" "$ROOT"/tests/e2e/sdk/node/older/*) & jobs+=($!)
    (install "$bridge" "$source"/{lib,package.json,register.js}) & jobs+=($!)
    for job in "${jobs[@]}"; do
        wait "$job"
    done
}

# node_of SDK: the Node that runs it.
node_of() {
    if [ "$1" = "$newest" ]; then
        compgen -G "$newest/node_modules/node-linux-*/bin/node"
    else
        command -v node
    fi
}

# run SDK [NAME=VALUE]... PROGRAM [ARGUMENT]...: what it prints, under the shim.
run() {
    local sdk=$1 environment=()
    shift
    while [[ $1 == *=* ]]; do
        environment+=("$1")
        shift
    done
    (cd "$sdk" && env LD_PRELOAD="$SHIM" "${environment[@]}" "$(node_of "$sdk")" "$@" 2>&1)
}

# attached PID...: the threads that show something.
attached() {
    local pid

    for pid; do
        "$READ" --json --threads "$pid" | jq -r '.threads[] | select(.status == "attached") | .trace_id'
    done
}

serve() {
    cd "$1"
    exec env LD_PRELOAD="$SHIM" OTELCTX_SPAN_ATTRIBUTES=' http.route ,, never.set' \
        "${require[@]}" "$(node_of "$1")" server.js "${@:2}" >"$TMP/server" 2>&1
}

request() {
    exec node "$@" <"$TMP/requests" >"$TMP/client" 2>&1
}

# sampled SDK FRAMEWORK [WORKERS]: the counts of samples while it has 40 requests
# under way, in $counts; what the client and the server printed, in $TMP; and what
# is shown after that, in $left.
sampled() {
    local sdk=$1 server port client requests pids
    shift

    truncate -s 0 "$TMP/truth"
    truncate -s $((4096 * 64)) "$TMP/truth"
    rm -f "$TMP/server" # the port of the server before
    background serve "$sdk" "$1" "$TMP/truth" "${@:2}"
    server=$PID
    until port=$(awk '/^port/ {print $2; exit}' "$TMP/server" 2>/dev/null) && [ -n "$port" ]; do
        kill -0 "$server" || { cat "$TMP/server"; return 1; }
        sleep 0.1
    done
    mkfifo "$TMP/requests"
    background request "$sdk/client.js" "$port"
    client=$PID
    exec {requests}>"$TMP/requests"
    rm "$TMP/requests"
    counts=$("$sampler" "$TMP/truth" 10000 120) || counts=
    exec {requests}>&-
    wait "$client" || echo "client: status $?" >>"$TMP/client"
    mapfile -t pids < <(pgrep -P "$server")
    left=$(attached "$server" "${pids[@]}")
    kill "$server"
    wait "$server" || :
}

# handled SENTENCE SDK FRAMEWORK [WORKERS]
handled() {
    local name=$1 samples shown wrong routes misrouted traces
    shift

    sampled "$@"
    read -r _ samples _ shown _ _ _ wrong _ routes _ _ _ misrouted _ traces <<<"$counts"
    echo "# $name: $counts"
    check "$name: there are enough samples of many requests" [ $((samples >= 10000 && traces > 100)) = 1 ]
    same "$name: no sample shows another request, span or route" '0 0' "$wrong $misrouted"
    check "$name: more than 95 % of the samples show the handler's span" [ $((shown * 100 > samples * 95)) = 1 ]
    check "$name: more than 95 % of these show its route, also a changed one" \
        [ $((routes * 100 > shown * 95)) = 1 ]
    same "$name: nothing is shown after the last request" '' "$left"
    same "$name: all requests succeed" '' "$(<"$TMP/client")"
    same "$name: the exporter gets the spans that were shown" 'spans that were not exported: 0' \
        "$(grep -v '^port' "$TMP/server" | sort -u)"
}

check 'the bridge and both SDKs install, without scripts' install_all

same 'the newest SDK: each way to resume work shows its span' 'same at every step' \
    "$(run "$newest" "${require[@]}" resumptions.js)"
same 'the older SDK: each way to resume work shows its span' 'same at every step' \
    "$(run "$older" "${require[@]}" resumptions.js)"
same 'the older SDK: the manager with hooks, likewise' 'same at every step' \
    "$(run "$older" "${require[@]}" MANAGER=hooks resumptions.js)"
same 'a ring: likewise' 'same at every step' \
    "$(run "$newest" "${require[@]}" OTELCTX_THREAD_STORAGE=ring resumptions.js)"

handled 'Express, newest SDK' "$newest" express
handled 'Fastify, newest SDK, two processes' "$newest" fastify 2
handled 'Express, older SDK' "$older" express

first="--require $bridge/register.js --require ./preloaded.js"
second="--require ./preloaded.js --require $bridge/register.js"
for sdk in newest older; do
    same "$sdk SDK, ES modules: their spans are shown" 'true true nothing nothing' \
        "$(run "${!sdk}" "${require[@]}" program.mjs)"
    same "$sdk SDK, ES modules: so they are with --import" 'true true nothing nothing' \
        "$(run "${!sdk}" NODE_OPTIONS="--import $bridge/register.js" program.mjs)"
    same "$sdk SDK: --require may start it after the bridge" 'true true nothing nothing' \
        "$(run "${!sdk}" NODE_OPTIONS="$first" program.mjs preloaded)"
    same "$sdk SDK: --require may start it before the bridge" 'true true nothing nothing' \
        "$(run "${!sdk}" NODE_OPTIONS="$second" program.mjs preloaded)"
done

plain=$(run "$newest" LD_PRELOAD= hello.js)
contains 'a program without the bridge prints its spans' "inner { 'http.route': '/hello' } true" "$plain"
same 'without the shim, nothing is printed and nothing is hooked' "$plain" \
    "$(run "$newest" LD_PRELOAD= OTELCTX_SPAN_ATTRIBUTES=a OTELCTX_RESOURCE=wrong "${require[@]}" hello.js)"
same 'if the shim is disabled, nothing is printed and nothing is hooked' "$plain" \
    "$(run "$newest" OTELCTX_DISABLED=true OTELCTX_SPAN_ATTRIBUTES=a OTELCTX_RESOURCE=wrong "${require[@]}" hello.js)"
same 'with the shim, the program does the same' "$(grep -v "^\[\|^  '\|^\]" <<<"$plain")" \
    "$(run "$newest" "${require[@]}" hello.js | grep -v "^\[\|^  '\|^\]")"
contains 'a wrong OTELCTX_RESOURCE is said' ': OTELCTX_RESOURCE: "wrong" is not "sdk": ignored' \
    "$(run "$newest" OTELCTX_RESOURCE=wrong "${require[@]}" hello.js)"
contains 'an attribute that cannot be registered is said' ': OTELCTX_SPAN_ATTRIBUTES: "a": error 95' \
    "$(run "$newest" OTELCTX_THREAD_STORAGE=ring "${require[@]}" OTELCTX_SPAN_ATTRIBUTES=a hello.js)"
same 'scalar attributes are shown as text, and their changes' "0=α 1=1.5 2=false
0=longer than before 1=1.5 2=false
0=longer than before 1=2
none
0=255 1=2
0=255 1=255" "$(run "$newest" "${require[@]}" OTELCTX_SPAN_ATTRIBUTES='text, number,,flag,list' attributes.js)"
same 'a program may clear what the API keeps' 'alive' \
    "$(run "$newest" "${require[@]}" -e "
        globalThis[Symbol.for('opentelemetry.js.api.1')] = undefined;
        console.log('alive');")"
same 'a record of another SDK stays as it is' 'true true' "$(run "$newest" "${require[@]}" owner.js)"

idle() {
    cd "$newest"
    exec env LD_PRELOAD="$SHIM" OTELCTX_RESOURCE=sdk "${require[@]}" "$(node_of "$newest")" idle.js \
        <"$TMP/stdin" >"$TMP/idle" 2>&1
}
mkfifo "$TMP/stdin"
background idle
exec {stdin}>"$TMP/stdin"
until grep -qx ready "$TMP/idle" 2>/dev/null || ! kill -0 "$PID"; do sleep 0.1; done
for ((tries = 0; tries < 600; tries++)); do # published in one step, soon after
    ! resource "$PID" | grep -qx host.late=yes || break
    sleep 0.1
done
same "OTELCTX_RESOURCE=sdk: the process context has the scalars of the SDK's resource" \
    "$(sed '/^ready$/d' "$TMP/idle" | LC_ALL=C sort)" "$(resource "$PID" | LC_ALL=C sort)"
contains "OTELCTX_RESOURCE=sdk: so it has the SDK's instance id" 'service.instance.id=' "$(<"$TMP/idle")"
exec {stdin}>&-
wait "$PID" || :

done_testing
