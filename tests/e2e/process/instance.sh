#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# OTELCTX_INSTANCE_ID: the service.instance.id of each process, and the variable
# that shows it to an SDK in the process.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

ENOENT=-2
KEY=service.instance.id
VARIABLE=OTEL_RESOURCE_ATTRIBUTES
CONFIGURED="info: the $KEY is configured: forked children repeat it"
GLIBC=$DRIVER MUSL=$TMP/musl_driver
musl-gcc -I"$ROOT" -o "$MUSL" "$ROOT/tests/e2e/hosts/driver.c"

# id PID: the id that a reader sees, if any.
id() {
    resource "$1" | sed -n "s/^$KEY=//p"
}
# variable [NAME]: its value in the program.
variable() {
    local shown

    shown=$(call env "${1-$VARIABLE}")
    echo "${shown#0 }"
}
# uuids: counts the different UUIDs of version 4 (RFC 9562) on stdin.
uuids() {
    local hex='[0-9a-f]'

    grep -Ex "$hex{8}-$hex{4}-4$hex{3}-[89ab]$hex{3}-$hex{12}" | sort -u | wc -l
}
# forked: $CHILD, a child of the driver or of the last child, takes the calls.
forked() {
    CHILD=$(call fork)
}

drive OTEL_SERVICE_NAME=s
same 'by default there is no id' service.name=s "$(resource "$PID")"
stop
drive OTEL_SERVICE_NAME=s OTELCTX_INSTANCE_ID=off
same 'with "off" there is no id' service.name=s "$(resource "$PID")"
stop

drive OTEL_SERVICE_NAME=s OTELCTX_INSTANCE_ID=generate \
    OTEL_RESOURCE_ATTRIBUTES="long=$(printf '%065400d' 0)"
same 'without room for an id there is none' 0 "$(id "$PID" | uuids)"
same 'when another attribute gets shorter there is an id' '0 0 1' \
    "$(call set long short) $(call publish) $(id "$PID" | uuids)"
stop

for libc in glibc musl; do
    DRIVER=$GLIBC
    [ $libc = glibc ] || DRIVER=$MUSL
    drive OTEL_SERVICE_NAME=s OTELCTX_INSTANCE_ID=generate
    same "$libc: the id is a UUID of version 4, behind all that is configured" \
        "1 service.name=s $KEY=$(id "$PID")" \
        "$(id "$PID" | uuids) $(resource "$PID" | paste -sd ' ')"
    first=$(id "$PID")
    {
        echo "$first"
        for _ in 1 2 3; do
            forked
            id "$CHILD"
        done
    } >"$TMP/ids"
    same "$libc: each forked child, and each child of it, has an id of its own" 4 \
        "$(uuids <"$TMP/ids")"
    same "$libc: the parent keeps its id" "$first" "$(id "$PID")"
    last=$(id "$CHILD")
    same "$libc: an update does not change the id" "0 0 $last" \
        "$(call set a b) $(call publish) $(id "$CHILD")"
    same "$libc: a drop does not change the id" "0 0 $last" \
        "$(call drop) $(call publish) $(id "$CHILD")"
    same "$libc: an id that the program sets overrides it" '0 0 mine' \
        "$(call set $KEY mine) $(call publish) $(id "$CHILD")"
    forked
    same "$libc: children repeat an id that the program sets" mine "$(id "$CHILD")"
    same "$libc: removing that id restores the child's generated one" \
        '0 0 5' "$(call set $KEY) $(call publish) $(
            { cat "$TMP/ids" && id "$CHILD"; } | uuids)"
    same "$libc: nothing is printed about ids" '' "$(cat "$TMP/stderr")"
    before=$(id "$CHILD")
    same "$libc: an executed program has an id of its own" '0 1 2' \
        "$(call exec) $(call abi) $({ echo "$before" && id "$CHILD"; } | uuids)"
    stop

    drive OTELCTX_INSTANCE_ID=generate OTELCTX_FORK=drop
    first=$(id "$PID")
    forked
    same "$libc: OTELCTX_FORK=drop: a child that publishes has an id of its own" \
        'no_context 0 2' "$(status "$CHILD") $(call publish) $(
            { echo "$first" && id "$CHILD"; } | uuids)"
    stop

    drive OTELCTX_INSTANCE_ID=generate OTELCTX_PUBLISH=configured
    same "$libc: a silent process has an id when it publishes later" \
        'no_context 0 1' "$(status "$PID") $(call publish) $(id "$PID" | uuids)"
    stop

    drive OTELCTX_INSTANCE_ID=generate OTELCTX_LOG_LEVEL=info \
        $VARIABLE=$KEY=configured
    forked
    same "$libc: a configured id stays, and children repeat it" \
        'configured configured' "$(id "$PID") $(id "$CHILD")"
    same "$libc: a configured id is told once" "$CONFIGURED" "$(sed -n \
        's/^otelctx\[[0-9]*\]: \(.*configured.*\)/\1/p' "$TMP/stderr")"
    stop
done
DRIVER=$GLIBC

cat >"$TMP/pool.py" <<'END'
import multiprocessing
import signal

context = multiprocessing.get_context("fork")
everybody = context.Barrier(9)


def work():
    everybody.wait()
    multiprocessing.parent_process().join()


for _ in range(8):
    context.Process(target=work, daemon=True).start()
everybody.wait()
print("ready", flush=True)
signal.pause()
END
mkfifo "$TMP/ready"
exec {ready}<>"$TMP/ready"
stay OTELCTX_INSTANCE_ID=generate python3 "$TMP/pool.py" >&"$ready"
read -r _ <&"$ready"
same 'each process of a multiprocessing pool of Python has an id of its own' 9 "$(
    for pid in "$PID" $(pgrep -P "$PID"); do id "$pid"; done | uuids)"

same 'two hundred processes have two hundred ids' 200 "$(for _ in {1..200}; do
    LD_PRELOAD=$SHIM OTELCTX_INSTANCE_ID=export printenv OTELCTX_EXPORTED_ID
done | uuids)"

# Export: the id is appended to the configured attributes.
echo "$VARIABLE=of=file" >"$TMP/otelctx.conf"
for libc in glibc musl; do
    DRIVER=$GLIBC
    [ $libc = glibc ] || DRIVER=$MUSL
    drive OTELCTX_INSTANCE_ID=export $VARIABLE=a=1
    own=$(id "$PID")
    same "$libc: the id of the context is appended to the variable" \
        "a=1,$KEY=$own 1" "$(variable) $(echo "$own" | uuids)"
    same "$libc: a second variable has the exported id" "$own" \
        "$(variable OTELCTX_EXPORTED_ID)"
    forked
    same "$libc: a forked child sees its own id in the variable" "2 a=1,$KEY=$(id "$CHILD") $(
        id "$CHILD")" "$({ echo "$own" && id "$CHILD"; } | uuids) $(variable) $(
        variable OTELCTX_EXPORTED_ID)"
    call exec >/dev/null
    call abi >/dev/null
    same "$libc: an executed program sees its own id instead of the inherited one" \
        "a=1,$KEY=$(id "$CHILD") $(id "$CHILD")" \
        "$(variable) $(variable OTELCTX_EXPORTED_ID)"
    same "$libc: setenv can change the environment" '0 0 b=2 new' \
        "$(call setenv $VARIABLE b=2) $(call setenv NEW new) $(variable) $(
            variable NEW)"
    same "$libc: putenv can change the environment" '0 b=3 new' \
        "$(call putenv $VARIABLE=b=3) $(variable) $(variable NEW)"
    same "$libc: unsetenv can change the environment" "0 $ENOENT new" \
        "$(call unsetenv $VARIABLE) $(variable) $(variable NEW)"
    same "$libc: clearenv can change the environment" "0 $ENOENT $ENOENT $ENOENT 0 again" \
        "$(call clearenv) $(variable NEW) $(variable LD_PRELOAD) $(
            variable OTELCTX_EXPORTED_ID) $(call setenv NEW again) $(
            variable NEW)"
    forked
    same "$libc: a fork keeps the environment that the program has changed" "$ENOENT again" \
        "$(variable) $(variable NEW)"
    stop

    for unset in "NONE=" "$VARIABLE="; do
        drive OTELCTX_INSTANCE_ID=export "$unset"
        same "$libc: the id may be the only attribute (${unset%=})" \
            "$KEY=$(id "$PID") 1" "$(variable) $(id "$PID" | uuids)"
        stop
    done
    drive OTELCTX_INSTANCE_ID=export OTELCTX_CONFIG_FILE="$TMP/otelctx.conf"
    same "$libc: attributes of the configuration file are in the variable, too" \
        "of=file,$KEY=$(id "$PID")" "$(variable)"
    stop
    drive OTELCTX_INSTANCE_ID=export OTELCTX_LOG_LEVEL=none $VARIABLE=a=1,%zz
    same "$libc: malformed attributes stay in the variable" \
        "a=1,%zz,$KEY=$(id "$PID") 1" "$(variable) $(id "$PID" | uuids)"
    stop
    drive OTELCTX_INSTANCE_ID=export $VARIABLE=$KEY=mine,a=1
    same "$libc: an id of the user stays in the variable" \
        "$KEY=mine,a=1 mine $ENOENT" \
        "$(variable) $(id "$PID") $(variable OTELCTX_EXPORTED_ID)"
    stop
done
DRIVER=$GLIBC

# exported COMMAND...: runs it with the shim and few variables.
exported() {
    env -i "PATH=$PATH" FIRST=1 $VARIABLE=a=1 SECOND=2 FIRST_=3 EMPTY= \
        LD_PRELOAD="$SHIM" OTELCTX_INSTANCE_ID=export "$@"
}
others() {
    grep -Ev "^($VARIABLE|OTELCTX_EXPORTED_ID|LD_PRELOAD)="
}
same 'all other variables have their values and order' \
    "$(SHIM='' exported env | others)" "$(exported env | others)"
same 'each exported variable is there once' 3 \
    $(($(exported env | wc -l) - $(exported env | others | wc -l)))

# told_by PROGRAM...: the variable as PROGRAM prints it, without the id.
told_by() {
    exported "$@" | sed -E 's/[0-9a-f-]{36}/ID/g'
}
same 'bash sees the id in the variable' "a=1,$KEY=ID" \
    "$(told_by bash -c "echo \$$VARIABLE")"
same 'Python sees the id in the variable' "a=1,$KEY=ID" \
    "$(told_by python3 -c "import os; print(os.environ['$VARIABLE'])")"
same "a program that is executed without the shim sees its parent's id" \
    "a=1,$KEY=ID 1" "$(told_by bash -c "unset LD_PRELOAD
        echo \$(printenv $VARIABLE) \$({ printenv OTELCTX_EXPORTED_ID
            echo \$OTELCTX_EXPORTED_ID; } | sort -u | wc -l)")"
same 'a program that Python starts sees its own id' 2 "$(exported python3 -c "
import os, subprocess
name = 'OTELCTX_EXPORTED_ID'
print(os.environ[name], flush=True)
subprocess.run(['printenv', name])" | uuids)"

# heir [NAME=VALUE]...: the id of the driver that a shell with an exported id
# executes.
cat >"$TMP/heir.sh" <<'END'
echo "$OTELCTX_EXPORTED_ID" >"$1"
shift
exec env "$@"
END
heir() {
    drive OTELCTX_INSTANCE_ID=export bash "$TMP/heir.sh" "$TMP/parent" "$@"
    id "$PID" | sed "s/$(<"$TMP/parent")/the parent's/"
    stop
}
same 'an executed program without an option for ids has no id' '' \
    "$(heir OTELCTX_INSTANCE_ID=off)"
same 'an executed program that does not export has an id of its own' 1 \
    "$(heir OTELCTX_INSTANCE_ID=generate | uuids)"
same 'an id that the user sets in between stays' mine \
    "$(heir $VARIABLE=$KEY=mine)"

# getrandom: the shim never waits for randomness, and opens no device.
# traced [FAULT]...
traced() {
    local fault inject=()

    for fault; do inject+=(-e "inject=$fault"); done
    DRIVER=$TMP/traced
    cat >"$DRIVER" <<EOF
#!/bin/sh
exec strace -D -o '$TMP/trace' -e trace=getrandom,open,openat ${inject[*]} \
    -E LD_PRELOAD='$SHIM' '$GLIBC'
EOF
    chmod +x "$DRIVER"
    LD_PRELOAD='' SHIM='' drive OTEL_SERVICE_NAME=s OTELCTX_LOG_LEVEL=warn \
        OTELCTX_INSTANCE_ID=generate
    DRIVER=$GLIBC
    SEEN=$(resource "$PID" | sed 's/=.*-.*/=ID/' | paste -sd ' ')
    STDERR=$(sed 's/^otelctx\[[0-9]*\]: //' "$TMP/stderr")
    stop
}
# asked: the flags of the shim's getrandom calls, not those of libc.
asked() {
    sed -n 's/^getrandom(.*, 16, \(GRND_[A-Z]*\)) .*/\1/p' "$TMP/trace" |
        paste -sd ' '
}
refused="warn: cannot give a $KEY: getrandom (errno 11)"
traced
same 'the shim asks for randomness without waiting' \
    "GRND_NONBLOCK, service.name=s $KEY=ID, " "$(asked), $SEEN, $STDERR"
same 'the shim opens no random device' '' "$(grep random "$TMP/trace" | grep open || :)"
nth=$(grep ^getrandom "$TMP/trace" | grep -n -m 1 ', 16, ' | cut -d: -f1)
traced "getrandom:error=EAGAIN:when=$nth"
same 'at boot, before the kernel has enough randomness, the shim takes what it has' \
    "GRND_NONBLOCK GRND_INSECURE, service.name=s $KEY=ID, " \
    "$(asked), $SEEN, $STDERR"
traced "getrandom:error=EAGAIN:when=$nth+"
same 'when the kernel gives no randomness there is a context without id' \
    "GRND_NONBLOCK GRND_INSECURE, service.name=s, $refused" \
    "$(asked), $SEEN, $STDERR"
same 'without randomness the shim opens no device either' '' "$(grep random "$TMP/trace" | grep open || :)"
traced "getrandom:error=ENOSYS:when=$nth+"
same 'where getrandom is forbidden there is a context without id' \
    "GRND_NONBLOCK, service.name=s, ${refused/11/38}" \
    "$(asked), $SEEN, $STDERR"

# refuse_randomness PID: getrandom fails in PID and its children from now on.
refuse_randomness() {
    local tries

    strace -f -o "$TMP/trace" -p "$1" -e trace=getrandom \
        -e inject=getrandom:error=EAGAIN 2>/dev/null {calls}>&- {results}<&- &
    tap_pids+=($!)
    for ((tries = 0; tries < 5000; tries++)); do
        ! grep -q '^TracerPid:.*[1-9]' "/proc/$1/status" || return 0
        sleep 0.02
    done
    return 1
}
drive OTELCTX_INSTANCE_ID=export OTELCTX_LOG_LEVEL=warn
refuse_randomness "$PID"
{
    id "$PID"
    for _ in {1..10}; do
        forked
        id "$CHILD"
    done
} >"$TMP/ids"
same 'a child without randomness has an id of its own' \
    "11 $KEY=$(tail -n 1 "$TMP/ids")" \
    "$(uuids <"$TMP/ids") $(variable)$(cat "$TMP/stderr")"
check 'the child has asked for randomness' grep -q 'EAGAIN.*INJECTED' "$TMP/trace"
stop

done_testing
