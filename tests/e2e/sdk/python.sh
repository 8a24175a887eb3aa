#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# demo/sdk/python: servers on the SDK and its instrumentation, as they are; the
# sampler compares what readers see with what the handlers say.
#
sampler=$OTELCTX_SDK_SAMPLER
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

here=$ROOT/tests/e2e/sdk/python
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
export OTEL_TRACES_EXPORTER=none OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none

# The SDK, and the bridge as pip builds it from a copy of its sources.
install() {
    local venv=$TMP/$1

    cp -r "$ROOT/demo/sdk/python" "$TMP/source"
    /usr/bin/python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check --no-deps -r "$here/$1.txt"
    "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --no-build-isolation \
        "$TMP/source"
    rm -r "$TMP/source"
    "$venv/bin/python" -c 'import otelctx_opentelemetry._native'
}

# under VENV COMMAND...: as a user turns the bridge on.
under() {
    local bin=$TMP/$1/bin
    shift
    exec env PATH="$bin:$PATH" LD_PRELOAD="$SHIM" OTEL_PYTHON_CONTEXT=otelctx \
        OTELCTX_SPAN_ATTRIBUTES=' http.route,,' TRUTH="$TMP/truth" \
        EXPORTED="$TMP/exported" BROKER="$TMP/broker" "${settings[@]}" "$@"
}
settings=(OTEL_SERVICE_NAME=shop)
samples=10000

# serve VENV COMMAND...: a server, which listens on the descriptor {fd}; its port
# is in $port.
serve() {
    local venv=$1 tries
    shift

    truncate -s 0 "$TMP/truth"
    truncate -s $((4096 * 64)) "$TMP/truth"
    rm -f "$TMP/exported" "$TMP/port"
    background under "$venv" python3 "$here/listen.py" "$TMP/port" opentelemetry-instrument "$@" \
        >"$TMP/server" 2>&1
    for ((tries = 0; tries < 1200; tries++)); do
        [ ! -e "$TMP/port" ] || break
        sleep 0.05
    done
    read -r port <"$TMP/port"
}

# stop_server: ends the server and waits for it.
stop_server() {
    kill "$PID"
    wait "$PID" || :
}

# sample COMMAND...: the sampler, while the command, which gets its pid, makes the
# load.
sample() {
    local pid status=0

    "$sampler" "$TMP/truth" "$samples" 120 >"$TMP/counts" 2>"$TMP/wrong" &
    pid=$!
    "${@//SAMPLER/$pid}" >"$TMP/answers" || status=$?
    [ "$status" = 0 ] || kill "$pid" || :
    wait "$pid" || status=$?
    return "$status"
}

# judge NAME SHARE: what the sampler counted, and what was exported.
judge() {
    local -A count=()
    local name value

    while read -r name value; do
        count[$name]=$value
    done < <(xargs -n 2 <"$TMP/counts")
    echo "# $1: $(<"$TMP/counts")"
    check "$1: $samples samples in handlers" test "${count[samples]:-0}" -ge "$samples"
    same "$1: no sample shows another trace, span or route" 'wrong 0 misrouted 0' \
        "wrong ${count[wrong]-} misrouted ${count[misrouted]-}$(head -c 2000 "$TMP/wrong")"
    check "$1: more than $2 of 100 samples show the handler's span" \
        test $((${count[shown]:-0} * 100)) -gt $((${count[samples]:-1} * $2))
    check "$1: many traces are shown, and their routes" \
        test "${count[traces]:-0}" -gt 20 -a "${count[routes]:-0}" -gt $((samples / 10))
    same "$1: the handlers' spans are exported" '' \
        "$(LC_ALL=C comm -23 <(LC_ALL=C sort -u "$TMP/answers") <(LC_ALL=C sort -u "$TMP/exported") | head -5)"
}

# attached PID...: the threads that show something.
attached() {
    local pid

    for pid; do
        "$READ" --json --threads "$pid" |
            jq -r '.threads[] | select(.status | IN("detached", "untouched", "ended") | not) | tostring'
    done
}

# family PID: the process and those that it forked.
family() {
    local child

    echo "$1"
    for child in $(pgrep -P "$1"); do family "$child"; done
}

# idle: waits until no thread shows anything, for the answer is sent before the
# span ends. Prints what threads still show after a minute.
idle() {
    local tries

    for ((tries = 0; tries < 120; tries++)); do
        # shellcheck disable=SC2046 # pids
        [ -n "$(attached $(family "$PID"))" ] || return 0
        sleep 0.5
    done
    # shellcheck disable=SC2046
    attached $(family "$PID")
}

# served NAME SHARE AT_ONCE PATHS VENV COMMAND...
served() {
    local name=$1 share=$2 at_once=$3 paths=$4
    shift 4

    serve "$@"
    # shellcheck disable=SC2086 # the paths are words
    check "$name: all requests are answered" sample \
        python3 "$here/load.py" "$port" "$at_once" SAMPLER $paths
    judge "$name" "$share"
    same "$name: after the load, no thread shows anything" '' "$(idle)"
    stop_server
}

# A machine may stand still for seconds: then no connection is idle, and no worker is lost.
uvicorn=(uvicorn --fd '{fd}' --log-level warning --timeout-keep-alive 600)
gunicorn=(gunicorn --bind 'fd://{fd}' --log-level warning --keep-alive 600 --timeout 600)

check 'pip installs the bridge beside the newest SDK, and compiles its module' install new
served 'Flask, threads' 99 8 /cart new python3 "$here/flask_app.py" '{fd}'
served 'FastAPI, asyncio' 95 100 '/cart /pool' new "${uvicorn[@]}" --loop asyncio fastapi_app:app
served 'FastAPI, uvloop' 95 100 '/cart /pool' new "${uvicorn[@]}" --loop uvloop fastapi_app:app
served 'gunicorn, forked workers' 99 8 /cart new \
    "${gunicorn[@]}" --workers 3 --preload --worker-class gthread --threads 3 flask_app:app
served 'gunicorn, gevent' 95 30 /cart new "${gunicorn[@]}" --workers 2 --worker-class gevent flask_app:app

# A worker of celery, and tasks in its processes.
celery() {
    local tasks=$1

    mkdir -p "$TMP/broker/messages" "$TMP/broker/control" "$TMP/broker/results"
    serve new celery -A celery_app worker --pool prefork --concurrency 3 --loglevel ERROR
    # shellcheck disable=SC2317 # sample calls it
    send() {
        while [ -e "/proc/$1" ]; do
            BROKER=$TMP/broker "$TMP/new/bin/python3" "$here/celery_app.py" "$tasks"
        done
    }
    check 'celery: all tasks are done' sample send SAMPLER
    judge celery 99
    same 'celery: after the load, no thread shows anything' '' "$(idle)"
    stop_server
}
celery 100

# program [NAME=VALUE]...: what a small program prints.
program() {
    settings=("$@")
    (under new python3 "$here/program.py") 2>&1
}
plain=$(program LD_PRELOAD= OTEL_PYTHON_CONTEXT=)
same 'the program traces without the bridge' 2 "$(wc -l <<<"$plain")"
same 'with the bridge, it prints the same' "$plain" "$(program OTELCTX_RESOURCE=sdk)"
same 'without the shim, too' "$plain" "$(program LD_PRELOAD= OTELCTX_RESOURCE=wrong)"
same 'where the shim is disabled, too' "$plain" \
    "$(program OTELCTX_DISABLED=true OTELCTX_RESOURCE=wrong)"
same 'a value that does not exist is told and ignored' \
    "otelctx[PID]: OTELCTX_RESOURCE=wrong: not 'sdk', ignored"$'\n'"$plain" \
    "$(program OTELCTX_RESOURCE=wrong | sed 's/^otelctx\[[0-9]*\]/otelctx[PID]/')"
same 'a key that is not UTF-8 is told and left out' \
    "otelctx[PID]: OTELCTX_SPAN_ATTRIBUTES: cannot register '\\udcff'"$'\n'"$plain" \
    "$(program OTELCTX_SPAN_ATTRIBUTES=$'http.route,\xff' | sed 's/^otelctx\[[0-9]*\]/otelctx[PID]/')"

# A program that waits within a span, whose attributes have changed.
settings=(OTELCTX_RESOURCE=sdk OTELCTX_SPAN_ATTRIBUTES=' size,, http.route ,done,tags,none')
mkfifo "$TMP/in" "$TMP/out"
held() { under new python3 "$here/program.py" hold <"$TMP/in" >"$TMP/out"; }
background held
exec {in}>"$TMP/in" {out}<"$TMP/out"
read -r _ <&"$out"
same 'attributes that are set late are shown, numbers as text, no lists' \
    '["done=true","http.route=/late","size=7"]' \
    "$("$READ" --json --threads "$PID" | jq -c '.threads[] | select(.status == "attached")
        | [.attributes[] | "\(.key)=\(.value.stringValue)"] | sort')"
same "the process context is the SDK's resource" \
    'answer=42 service.instance.id=of the SDK telemetry.sdk.language=python yes=true' \
    "$(resource "$PID" | grep -E '^(answer|service.instance.id|telemetry.sdk.language|yes|list)=' |
        LC_ALL=C sort | paste -sd ' ')"
echo >&"$in"
wait "$PID"

settings=(OTELCTX_SPAN_ATTRIBUTES='http.route,long,longer')
check 'the span follows contexts, threads, forks, tasks and greenlets' under new python3 "$here/cases.py"
check 'without the compiled module, too' under new python3 "$here/cases.py" fallback

# As otelctx-run has it: in a folder of PYTHONPATH.
aside() {
    cp -r "$ROOT/demo/sdk/python" "$TMP/source"
    "$TMP/new/bin/pip" install -q --disable-pip-version-check --no-deps --no-build-isolation \
        --target "$TMP/aside" "$TMP/source"
    rm -r "$TMP/source"
    "$TMP/new/bin/pip" uninstall -q -y otelctx-opentelemetry
    settings+=(PYTHONPATH="$TMP/aside:$here")
    under new python3 "$here/cases.py"
}
check 'installed into a folder of PYTHONPATH, too' aside

check 'pip installs the bridge beside a year-old SDK' install old
settings=(OTEL_SERVICE_NAME=shop)
samples=3000
served 'year-old SDK, Flask' 99 8 /cart old python3 "$here/flask_app.py" '{fd}'
served 'year-old SDK, FastAPI' 95 100 '/cart /pool' old "${uvicorn[@]}" --loop asyncio fastapi_app:app

done_testing
